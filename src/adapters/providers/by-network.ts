/**
 * One provider made of several programs that speak the same API: one serves the networks that no other is named for.
 * An order belongs to the program of its network. A reference that this program does not know is looked for at the
 * others, so that a network can move to another program while its orders are open.
 */
import type {
  AlarmsResult,
  Limited,
  Provider,
  StatementPage,
  StatementQuery,
  Unknown,
} from './port';

export interface Program {
  /** In the ids of its alarms and in cursors, such as `tron`; empty for the one that serves all other networks. */
  label: string;
  networks: readonly string[];
  provider: Provider;
}

/** @param main serves all networks that the others do not */
export function providerByNetwork(main: Provider, others: readonly Program[]): Provider {
  if (others.length === 0) return main;
  const programs: readonly Program[] = [{ label: '', networks: [], provider: main }, ...others];
  const of = (network: string | null | undefined): Provider =>
    others.find(({ networks }) => networks.includes(network ?? ''))?.provider ?? main;
  /** Not found is what all programs say, and in doubt is what one of them leaves in doubt. */
  const find = async <Result extends { kind: string }>(
    network: string | null | undefined,
    ask: (provider: Provider) => Promise<Result>,
  ): Promise<Result> => {
    const own = of(network);
    const first = await ask(own);
    if (first.kind !== 'not_found') return first;
    const rest = programs.flatMap(({ provider }) => (provider === own ? [] : [ask(provider)]));
    const answers = await Promise.all(rest);
    return (
      answers.find(
        ({ kind }) => kind !== 'not_found' && kind !== 'unknown' && kind !== 'limited',
      ) ??
      answers.find(({ kind }) => kind !== 'not_found') ??
      first
    );
  };
  return {
    ...main,
    estimateNetworkFee: (currency, network) => of(network).estimateNetworkFee(currency, network),
    submitPayout: (order) => of(order.network).submitPayout(order),
    findPayout: (reference, network) => find(network, (one) => one.findPayout(reference)),
    openCheckout: (order) => of(order.network).openCheckout(order),
    findCheckout: (reference, network) => find(network, (one) => one.findCheckout(reference)),
    cancelCheckout: (reference, network) => find(network, (one) => one.cancelCheckout(reference)),
    releaseHold: (reference, decision, network) =>
      find(network, (one) => one.releaseHold(reference, decision)),
    refundCheckout: (reference, refundReference, amount, network) =>
      find(network, (one) => one.refundCheckout(reference, refundReference, amount)),
    listPayouts: (query) => listAll(programs, query, (one, own) => one.listPayouts(own)),
    listCheckouts: (query) => listAll(programs, query, (one, own) => one.listCheckouts(own)),
    listAlarms: () => listAlarms(programs),
    listWallets: async () => {
      const answers = await Promise.all(programs.map(({ provider }) => provider.listWallets()));
      const silent = answers.find((one): one is Limited | Unknown => one.kind !== 'wallets');
      if (silent !== undefined) return silent;
      const wallets = answers.flatMap((one) => (one.kind === 'wallets' ? one.wallets : []));
      return { kind: 'wallets', wallets };
    },
    listUnknownTransactions: async () => {
      const answers = await Promise.all(
        programs.map(({ provider }) => provider.listUnknownTransactions()),
      );
      // Those of a program that does not answer are listed the next time.
      const hashes = answers.flatMap((one) => (one.kind === 'transactions' ? one.hashes : []));
      return { kind: 'transactions', hashes };
    },
    claimTransaction: (order, txHash) => of(order.network).claimTransaction(order, txHash),
    readCallback: (headers, rawBody) => {
      for (const { provider } of programs) {
        const hint = provider.readCallback(headers, rawBody);
        if (hint !== null) return hint;
      }
      return null;
    },
  };
}

/** The next page of each program that has one. The cursor has theirs by their labels. */
async function listAll<Entry>(
  programs: readonly Program[],
  { changedFrom, cursor }: StatementQuery,
  ask: (provider: Provider, query: StatementQuery) => Promise<StatementPage<Entry>>,
): Promise<StatementPage<Entry>> {
  const cursors = cursor === null ? null : readCursors(cursor);
  const asked = programs.filter(({ label }) => cursors === null || cursors.has(label));
  const answers = await Promise.all(
    asked.map(({ provider, label }) =>
      ask(provider, { changedFrom, cursor: cursors?.get(label) ?? null }),
    ),
  );
  const trouble = answers.find((one): one is Limited | Unknown => one.kind !== 'page');
  if (trouble !== undefined) return trouble;
  const pages = answers.filter((one) => one.kind === 'page');
  const rest = pages.flatMap((page, index) =>
    page.cursor === null ? [] : [[asked[index]?.label ?? '', page.cursor] as const],
  );
  const entries = pages.flatMap((page) => page.entries);
  // What a program has not listed so far may be as old as its last entry.
  const unfinished = pages.filter((page) => page.cursor !== null);
  const ends = (unfinished.length > 0 ? unfinished : pages).flatMap((page) =>
    page.changedUntil === null ? [] : [page.changedUntil.getTime()],
  );
  const until = unfinished.length > 0 ? Math.min(...ends) : Math.max(...ends);
  return {
    kind: 'page',
    entries,
    changedUntil: Number.isFinite(until) ? new Date(until) : null,
    cursor: rest.length === 0 ? null : JSON.stringify(Object.fromEntries(rest)),
  };
}

function readCursors(cursor: string): Map<string, string> {
  return new Map(Object.entries(JSON.parse(cursor) as Record<string, string>));
}

/** The alarms of the programs that answer; those of the others stay as they were. */
async function listAlarms(programs: readonly Program[]): Promise<AlarmsResult> {
  const answers = await Promise.all(programs.map(({ provider }) => provider.listAlarms()));
  const silent = programs.filter((_, index) => answers[index]?.kind !== 'alarms');
  if (silent.length === programs.length) return answers[0] as Limited | Unknown;
  const prefixes = programs.map(({ label }) => prefixOf(label)).filter((prefix) => prefix !== '');
  return {
    kind: 'alarms',
    alarms: answers.flatMap((answer, index) =>
      answer.kind === 'alarms'
        ? answer.alarms.map((alarm) => ({
            ...alarm,
            id: `${prefixOf(programs[index]?.label ?? '')}${alarm.id}`,
          }))
        : [],
    ),
    isSilent: (id) =>
      silent.some(({ label }) =>
        label === '' ? !prefixes.some((one) => id.startsWith(one)) : id.startsWith(prefixOf(label)),
      ),
  };
}

function prefixOf(label: string): string {
  return label === '' ? '' : `${label}:`;
}
