/**
 * Which room may import which: the table of rooms in the project's design, as rules. A room may
 * always import its own files and, except for the workflows and the domain, src/lib and src/settings.
 * src/shell/config.ts, src/shell/deps.ts, src/bin and src/dev put everything together and may import all.
 */
const LIB = '^src/(lib|settings)/';

/** room → what it may import of the project. Everything else of the project is forbidden. */
const ROOMS = {
  'src/domain': [],
  // A program that starts reads the secrets that are in files.
  'src/lib': ['^src/domain/', '^src/platform/settings/secret-files\\.ts$'],
  'src/settings': ['^src/(domain|lib)/'],
  'src/schemas': ['^src/domain/', LIB],
  // Of src/db the types of what is stored, and nothing that runs: see presenters-db-types.
  'src/presenters': ['^src/(domain|schemas)/', '^src/db/repositories/', LIB],
  'src/destinations': [],
  'src/services': [
    '^src/(domain|db|presenters|temporal|destinations|screening|oidc)/',
    '^src/adapters/providers/registry\\.ts$',
    '^src/adapters/webhooks/sender\\.ts$',
    // The signature debugger checks as a receiver does, and a dossier is signed as it is checked.
    '^clients/typescript/src/(webhooks|dossier)\\.ts$',
    '^workflows/(names|messages)\\.ts$',
    LIB,
  ],
  'src/openapi': ['^src/(schemas|domain)/', LIB],
  'src/http': ['^src/(services|schemas|presenters|domain|openapi)/', LIB],
  'src/cli': [
    '^src/(services|presenters|domain)/',
    '^src/db/(connect|migrate|provision|transaction|repositories/accounts)\\.ts$',
    '^src/temporal/(client|payout-schedules|[a-z-]+-workflows)\\.ts$',
    '^src/adapters/webhooks/sender\\.ts$',
    '^src/adapters/screening/service\\.ts$',
    LIB,
  ],
  'src/web': ['^src/(services|schemas|presenters|domain)/', LIB],
  'src/dashboard': ['^src/(web|services|schemas|presenters|domain)/', LIB],
  'src/console': ['^src/(web|services|schemas|presenters|domain)/', LIB],
  'src/postgres': [LIB],
  'src/db': ['^src/(domain|postgres)/', LIB],
  'src/temporal': ['^src/domain/', '^workflows/(names|messages)\\.ts$', LIB],
  'src/providers': ['^src/domain/', LIB],
  'src/oidc': ['^src/domain/', LIB],
  'src/mail': ['^src/domain/', LIB],
  'src/webhooks': ['^src/domain/', '^clients/typescript/src/webhooks\\.ts$', LIB],
  // The service is called like a provider; of src/db what was answered before.
  'src/screening': [
    '^src/(domain|destinations)/',
    '^src/db/(transaction|repositories/screening)\\.ts$',
    '^src/providers/(answer-reader|port|provider-http)\\.ts$',
    LIB,
  ],
  // Merchants install it without the server.
  'clients/typescript/src': [],
  'clients/mcp/src': ['^clients/typescript/src/'],
  // The wallet and the sandbox serve it; the gateway's adapter shares no code with it.
  'src/onchain-api': ['^src/domain/money\\.ts$', LIB],
  'src/sandbox': ['^src/domain/money\\.ts$', '^src/onchain-api/', LIB],
  // It holds keys: nothing of the gateway but how money is written, the driver, and the names of its workflows.
  'src/wallet': [
    '^src/domain/money\\.ts$',
    '^src/(onchain-api|postgres)/',
    '^workflows/wallet/(names|messages)\\.ts$',
    LIB,
  ],
  activities: [
    '^src/(domain|db|providers|webhooks|presenters|temporal|destinations|screening|mail)/',
    '^workflows/(names|messages)\\.ts$',
    LIB,
  ],
};

/** room → the packages it may import, where the table limits them. */
const PACKAGES = {
  'src/domain': ['decimal\\.js'],
  'src/destinations': ['@noble/hashes', '@scure/base'],
  workflows: ['@temporalio/workflow', '@temporalio/common'],
};

const escape = (room) => room.replaceAll('/', '\\/');

const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room.replaceAll('/', '-')}-imports`,
  comment: `What ${room} may import is listed in .dependency-cruiser.js.`,
  severity: 'error',
  from: { path: `^${escape(room)}/` },
  to: {
    path: '^(src|workflows|activities|clients|test)/',
    pathNot: [`^${escape(room)}/`, ...allowed],
  },
}));

const packageRules = Object.entries(PACKAGES).map(([room, allowed]) => ({
  name: `${room.replace('/', '-')}-packages`,
  comment: `${room} stays free of packages other than ${allowed.join(', ')}, and of Node's modules.`,
  severity: 'error',
  from: { path: `^${escape(room)}/` },
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
      from: { path: '^src/services/' },
      to: { path: 'node_modules/(koa|@koa|koa-bodyparser)/' },
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
      comment: 'One way to PostgreSQL: statements are sent by src/postgres.',
      severity: 'error',
      from: {
        path: '^(src|workflows|activities)/',
        pathNot: '^src/(postgres|db|bin|dev|wallet/db)/',
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
      name: 'presenters-db-types',
      comment: 'A presenter is a pure function: it knows the shape of a row, and no query.',
      severity: 'error',
      from: { path: '^src/presenters/' },
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
