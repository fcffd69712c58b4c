/**
 * Which room may import which, as rules; docs/architecture.md explains the rooms. A room may always import its
 * own files. src/shell, src/bin and src/dev put everything together and may import all.
 */

/** What every room but the workflows and the domain may import. */
const PLATFORM = '^src/platform/';

/** Each capability, with the capabilities that it may use. They come before it: no circle is possible. */
const FEATURES = {
  approvals: [],
  audit: [],
  'request-log': [],
  accounts: ['approvals', 'audit'],
  people: ['accounts'],
  books: ['accounts'],
  payouts: ['approvals', 'audit', 'accounts', 'people', 'books'],
  payments: ['approvals', 'people', 'payouts'],
  recipients: ['approvals', 'payouts'],
  cases: ['audit', 'payouts', 'recipients'],
  screening: ['payouts', 'recipients'],
  'payout-batches': ['approvals', 'payouts', 'payments'],
  'payout-schedules': ['approvals', 'payouts', 'payout-batches'],
  'api-keys': ['approvals', 'accounts'],
  webhooks: ['accounts', 'payouts', 'payments', 'recipients', 'payout-batches', 'payout-schedules'],
  notifications: ['people', 'webhooks'],
};

/** What a feature is made with. */
const UNDER_FEATURES = [
  '^src/(kit|adapters|domain|db|temporal)/',
  // The signature debugger checks as a receiver does, and a dossier is signed as it is checked.
  '^clients/typescript/src/(webhooks|dossier)\\.ts$',
  '^workflows/(names|messages)\\.ts$',
  PLATFORM,
];

/** room → what it may import of the project. Everything else of the project is forbidden. */
const ROOMS = {
  'src/domain': [],
  'src/platform': ['^src/domain/'],
  'src/db': ['^src/domain/', PLATFORM],
  'src/temporal': ['^src/domain/', '^workflows/(names|messages)\\.ts$', PLATFORM],
  'src/adapters/destinations': [],
  'src/adapters/mail': ['^src/domain/', PLATFORM],
  'src/adapters/oidc': ['^src/domain/', PLATFORM],
  'src/adapters/providers': ['^src/domain/', PLATFORM],
  'src/adapters/webhooks': ['^src/domain/', '^clients/typescript/src/webhooks\\.ts$', PLATFORM],
  // The service is called like a provider; of src/db what was answered before.
  'src/adapters/screening': [
    '^src/domain/',
    '^src/adapters/destinations/',
    '^src/db/(transaction|screening/screening)\\.ts$',
    '^src/adapters/providers/(answer-reader|port|provider-http)\\.ts$',
    PLATFORM,
  ],
  'src/kit': [
    '^src/(domain|db|temporal)/',
    '^src/adapters/(providers/registry|screening/service|webhooks/sender)\\.ts$',
    PLATFORM,
  ],
  'src/openapi': [
    '^src/kit/api/',
    '^src/features/[a-z-]+/[a-z-]+-contract\\.ts$',
    '^src/domain/',
    PLATFORM,
  ],
  ...Object.fromEntries(
    Object.entries(FEATURES).map(([name, lower]) => [
      `src/features/${name}`,
      [...UNDER_FEATURES, ...lower.map((one) => `^src/features/${one}/`)],
    ]),
  ),
  // Merchants install it without the server.
  'clients/typescript/src': [],
  'clients/mcp/src': ['^clients/typescript/src/'],
  // The wallet and the sandbox serve it; the gateway's adapter shares no code with it.
  // Its page leads to the public explorers of the networks.
  'src/rails/onchain-api': ['^src/domain/(money|networks)\\.ts$', PLATFORM],
  'src/rails/sandbox': ['^src/domain/money\\.ts$', '^src/rails/onchain-api/', PLATFORM],
  // It holds keys: nothing of the gateway but how money is written, the driver, and the names of its workflows.
  'src/rails/wallet': [
    '^src/domain/money\\.ts$',
    '^src/rails/onchain-api/',
    '^workflows/wallet/(names|messages)\\.ts$',
    PLATFORM,
  ],
  activities: [
    '^src/(domain|db|adapters|temporal)/',
    // What is sent as an event is written as the API writes it.
    '^src/features/[a-z-]+/[a-z-]+-contract\\.ts$',
    '^src/features/books/statement-pdf\\.ts$',
    '^src/kit/service/(envelope|admin)\\.ts$',
    '^workflows/(names|messages)\\.ts$',
    PLATFORM,
  ],
};

/** What single files import beyond their room, each with its reason: [file, what it may import]. */
const ALSO = [
  // A page names the type of what its site offers, which is one object for each site.
  [
    '^src/(features/[a-z-]+|kit)/(dashboard|console|pages)/',
    '^src/shell/(dashboard/(services|money)|console/services|user-services)\\.ts$',
  ],
  // The list of the bodies that a thread of its own reads.
  ['^src/kit/api/large-bodies/readers\\.ts$', '^src/features/[a-z-]+/[a-z-]+-contract\\.ts$'],
  // The interfaces of the API's services, and the command's words, name what features return.
  ['^src/kit/service/(services|admin|envelope)\\.ts$', '^src/features/(books|payouts|webhooks)/'],
  ['^src/kit/admin/context\\.ts$', '^src/features/webhooks/webhook-endpoints\\.ts$'],
];

/** room → the packages it may import, where the table limits them. */
const PACKAGES = {
  'src/domain': ['decimal\\.js'],
  'src/adapters/destinations': ['@noble/hashes', '@scure/base'],
  workflows: ['@temporalio/workflow', '@temporalio/common'],
};

const rule = (name, from, allowed) => ({
  name: name.replaceAll('/', '-'),
  comment: 'What a room may import is listed in .dependency-cruiser.js.',
  severity: 'error',
  from,
  to: { path: '^(src|workflows|activities|clients|test)/', pathNot: allowed },
});

const roomRules = Object.entries(ROOMS).flatMap(([room, allowed]) => {
  const own = `^${room}/`;
  return [
    rule(`${room}-imports`, { path: own, pathNot: ALSO.map(([file]) => file) }, [own, ...allowed]),
    ...ALSO.map(([file, also], index) =>
      rule(`${room}-imports-${index + 1}`, { path: `^(?=${room}/)(?:${file.slice(1)})` }, [
        own,
        also,
        ...allowed,
      ]),
    ),
  ];
});

const packageRules = Object.entries(PACKAGES).map(([room, allowed]) => ({
  name: `${room.replace('/', '-')}-packages`,
  comment: `${room} stays free of packages other than ${allowed.join(', ')}, and of Node's modules.`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: {
    dependencyTypesNot: ['local', 'type-only'],
    pathNot: allowed.map((name) => `(^|/)node_modules/${name}/`),
  },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    ...packageRules,
    {
      name: 'workflows-imports',
      comment: 'Workflows are replayed: pure code only, activities by `import type`.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '^(src|activities|test)/',
        pathNot: '^src/domain/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'workflows-types',
      comment: 'Even types come from the domain and the activities alone.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^(src|test)/', pathNot: '^src/domain/' },
    },
    {
      name: 'client-packages',
      comment: 'The SDK needs nothing but Node.',
      severity: 'error',
      from: { path: '^clients/typescript/' },
      to: { path: 'node_modules/' },
    },
    {
      name: 'services-not-koa',
      comment: 'A service knows no HTTP framework and no provider adapter.',
      severity: 'error',
      from: { path: '^src/(features/[a-z-]+/(?!.*-api)|kit/service/)' },
      to: { path: 'node_modules/(koa|@koa|koa-bodyparser)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'objection-in-db-only',
      comment: 'SQL and models stay in src/db, so that replacing them is one folder.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/', pathNot: '^src/(db|bin|dev)/' },
      to: { path: 'node_modules/(knex|objection)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'driver-of-postgresql',
      comment: 'One way to PostgreSQL: statements are sent by src/platform/postgres.',
      severity: 'error',
      from: {
        path: '^(src|workflows|activities)/',
        pathNot: '^src/(platform/postgres|db|bin|dev|rails/wallet/db)/',
      },
      to: { path: 'node_modules/pg/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'development-stays-out',
      comment:
        'Production runs without src/dev: only `npm start`, `npm run reset` and tests use it.',
      severity: 'error',
      from: {
        path: '^(src|workflows|activities)/',
        pathNot: '^src/(dev/|bin/(dev|dev-chain|reset|sandbox-logins)\\.ts$)',
      },
      to: { path: '^src/dev/' },
    },
    {
      name: 'no-dev-dependency-in-production',
      comment: 'The image is installed without devDependencies.',
      severity: 'error',
      from: {
        path: '^(src|workflows|activities)/',
        pathNot: '^src/(dev/|bin/(dev|dev-chain|reset|openapi)\\.ts$)',
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'contracts-db-types',
      comment: 'A contract is pure: it knows the shape of a row, and no query.',
      severity: 'error',
      from: { path: '^src/features/[a-z-]+/[a-z-]+-contract\\.ts$' },
      to: { path: '^src/db/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-circular',
      comment:
        'A circle of imports has no order of loading, and a circle of types hides what belongs together.',
      severity: 'error',
      from: { pathNot: '^node_modules/' },
      to: { circular: true },
    },
    {
      name: 'no-tests-in-the-program',
      comment: 'The program never needs its tests.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-undeclared-package',
      comment: 'A package that is imported is named in package.json.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'], pathNot: '^node:' },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|\\.gateway)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'require'] },
  },
};
