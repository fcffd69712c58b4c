/** `wallet rescan`: credits deposits that the wallet has missed. */
import type { Command } from '@commander-js/extra-typings';
import { formatUnits, type Hex } from 'viem';
import { UsageError, wholeNumber } from '../../../platform/lib/command-line';
import { createChain } from '../chain/chain';
import {
  BY,
  type CommandParts,
  findNetwork,
  JSON_OUTPUT,
  networkCommand,
  print,
  REASON,
} from '../command-options';
import type { Network } from '../networks';
import type { BookingOutcome } from './booking';
import { findBlockOf, rescan, type Rescanned } from './rescan';

const HELP = `
Use it when a deposit is on the chain and not in the wallet, for example after a node left out logs.
Only final blocks are read. It may be interrupted and repeated: nothing is credited twice. The wallet
may run meanwhile, and confirms what was credited in its next step.

Examples:
  npm run wallet -- rescan ethereum --transaction 0x5c50… --by alice --reason "customer asks"
  npm run wallet -- rescan ethereum --from 21000000 --to 21000500 --by alice --reason "node had no logs"
`;

const blockNumber = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const PROGRESS_EVERY_MS = 5_000;

interface Options {
  from?: number | undefined;
  to?: number | undefined;
  transaction?: string | undefined;
}

export function addRescanCommand(command: Command, parts: CommandParts): void {
  networkCommand(
    command,
    'rescan',
    'Reads final blocks again and credits the deposits that are missing, once.',
  )
    .option('--from <BLOCK>', 'the first block', blockNumber)
    .option('--to <BLOCK>', 'the last block; without it, the newest final one', blockNumber)
    .option('--transaction <HASH>', 'only what this transaction paid')
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .option(...JSON_OUTPUT)
    .addHelpText('after', HELP)
    .action(async (name, { by, reason, mode, json, ...options }) => {
      const network = findNetwork(parts, name, mode);
      const chain = createChain(network);
      const transaction = readTransaction(options);
      const blocks =
        transaction === null
          ? { from: options.from ?? 0, to: options.to ?? null }
          : await findBlockOf(chain, transaction).then((at) => ({ from: at, to: at }));
      const report = json === true ? undefined : createProgress(parts.out);
      const rescanned = await parts.withDatabase((db) =>
        rescan({ db, chain }, { ...blocks, transaction, by, reason }, report),
      );
      print(parts, json, present(rescanned), describe(network, rescanned));
    });
}

/** Returns null when blocks are read. */
function readTransaction({ from, to, transaction }: Options): Hex | null {
  if (transaction === undefined) {
    if (from === undefined) throw new UsageError('Name --from, or --transaction.');
    if (to !== undefined && to < from) throw new UsageError('--to must not be before --from.');
    return null;
  }
  if (from !== undefined || to !== undefined) {
    throw new UsageError('Name either blocks or --transaction.');
  }
  if (!/^0x[0-9a-f]{64}$/i.test(transaction)) {
    throw new UsageError(
      '--transaction is the hash of a transaction: 0x and 64 hexadecimal digits.',
    );
  }
  return transaction.toLowerCase() as Hex;
}

function createProgress(
  out: CommandParts['out'],
): (block: number, to: number, found: number) => void {
  let shownAt = performance.now();
  return (block, to, found) => {
    if (performance.now() - shownAt < PROGRESS_EVERY_MS) return;
    shownAt = performance.now();
    out(`Block ${block} of ${to}, ${found} deposits found.\n`);
  };
}

const WORDS: Readonly<Record<BookingOutcome, string>> = {
  credited: 'credited',
  known: 'already known',
  explained:
    'not credited: the address has no more coins than its deposits explain. It was credited by the balance, or a transaction that spent the coins is missing too: read more blocks',
  unproven:
    'NOT credited: no node has the balance of a final block. Run this again with such a node',
  differs:
    'NOT credited: the wallet has another amount for this transaction. Compare its transfers with the deposits',
};

function describe({ name }: Network, { from, to, found }: Rescanned): string {
  const lines = found.map(({ arrival, outcome }) => {
    const { asset, units, decimals, txHash, blockNumber: block, checkoutId, to: address } = arrival;
    return `${formatUnits(units, decimals)} ${asset} to ${address} (checkout ${checkoutId}), block ${block}, ${txHash}: ${WORDS[outcome]}.\n`;
  });
  const count = (outcome: BookingOutcome): number =>
    found.filter((one) => one.outcome === outcome).length;
  const others = found.length - count('credited') - count('known');
  return `${lines.join('')}Blocks ${from} to ${to} of ${name}: ${found.length} deposits found, ${count('credited')} credited, ${count('known')} already known, ${others} not credited.\n`;
}

function present({ from, to, found }: Rescanned) {
  return {
    from,
    to,
    found: found.map(({ arrival, outcome }) => ({
      outcome,
      asset: arrival.asset,
      amount: formatUnits(arrival.units, arrival.decimals),
      address: arrival.to,
      checkout_id: arrival.checkoutId,
      block: arrival.blockNumber,
      transaction: arrival.txHash,
    })),
  };
}
