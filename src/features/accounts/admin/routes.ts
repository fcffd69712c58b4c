/** `admin routes`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { DIRECTIONS } from '../../../domain/fees';
import { disableRoutes, enableRoutes, listRoutes, type RouteSetting } from '../routes';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  changeVerb,
  PROVIDER,
  readVerb,
  text,
  type VerbTexts,
} from '../../../kit/admin/options';
import { listOf, showList } from '../../../kit/admin/output';

const COLUMNS = [
  'provider',
  'network',
  'currency',
  'direction',
  'min_amount',
  'max_amount',
  'enabled',
] as const;

export function addRoutes(admin: Command, run: Run): void {
  const routes = addNoun(
    admin,
    'routes',
    'The currencies and networks that merchants can use, by provider and direction.',
  );
  readVerb(routes, 'list', {
    summary: 'List all routes',
    examples: ['routes list', 'routes list --json'],
  }).action((options) =>
    run(options, async ({ db }) => listOf((await listRoutes(db)).map(present)), showRoutes),
  );
  addSwitch('disable', disableRoutes, {
    summary: 'Refuse new payments and payouts on a network of a provider',
    notes: 'Payments and payouts that exist keep their route and are completed.',
    examples: [
      'routes disable --provider onchain_provider --network tron --reason "not offered"',
      'routes disable --provider onchain_provider --network base --currency USDC --direction payout',
    ],
  });
  addSwitch('enable', enableRoutes, {
    summary: 'Accept new payments and payouts on a network of a provider again',
    examples: ['routes enable --provider onchain_provider --network tron'],
  });

  function addSwitch(verb: string, change: typeof enableRoutes, texts: VerbTexts): void {
    changeVerb(routes, verb, texts)
      .addOption(PROVIDER)
      .requiredOption('--network <NAME>', 'as `routes list` shows it', text)
      .option('--currency <CODE>', 'only this currency (default: all of the network)', text)
      .addOption(
        new Option('--direction <DIRECTION>', 'only this direction (default: both)').choices(
          DIRECTIONS,
        ),
      )
      .action((options) =>
        run(
          options,
          async ({ db, by }) => {
            const { provider, network, currency, direction } = options;
            const scope = { provider, network, currency, direction };
            return listOf((await change.make(db, by, scope, {})).map(present));
          },
          showRoutes,
        ),
      );
  }
}

function showRoutes(list: ReturnType<typeof listOf<ReturnType<typeof present>>>): string {
  return showList(list, COLUMNS, 'There are no routes.');
}

function present({ minAmount, maxAmount, ...route }: RouteSetting) {
  return { object: 'route', ...route, min_amount: minAmount, max_amount: maxAmount };
}
