/**
 * `npm run dev:chain`: a customer at the local chain of `npm start -- --chain`. It pays a payment's
 * checkout from an account that the node signs for, and reads balances from the chain.
 */
import { Option } from '@commander-js/extra-typings';
import { type Address, type Hex, isAddress, numberToHex, parseUnits, formatUnits } from 'viem';
import { connectRpc, type Rpc } from '../dev/chain/anvil';
import { callContract, waitForReceipt } from '../dev/chain/contracts';
import { readTokenBalance } from '../dev/chain/local-chain';
import type { DevSettings } from '../dev/settings-file';
import {
  createCommand,
  type Program,
  runAsMain,
  runCommand,
  UsageError,
} from '../platform/lib/command-line';
import { dataLayout, readPrivateJson } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';

const COMMAND = 'npm run dev:chain --';

const HELP = `
Examples:
  ${COMMAND} pay pay_01…
  ${COMMAND} balance 0x90F79bf6EB2c4f870365E785982E1f101E93b906 --asset USDT

Environment:
  GATEWAY_DATA_DIR     the data folder (.gateway)

Exit codes: 0 done, 1 refused or failed, 2 a wrong argument
`;

/** The customer's index among the node's accounts. The first account owns the test tokens. */
const CUSTOMER = 1;
const COIN = { asset: 'ETH', decimals: 18 } as const;

export const runDevChain: Program = (args, terminal) => {
  const command = createCommand(COMMAND, terminal)
    .description('Pays payments and reads balances on the local chain. Development only.')
    .addHelpText('after', HELP);
  command
    .command('pay')
    .argument('<payment>', 'the payment’s id')
    .description('Pays a payment’s checkout and prints the balance of its address.')
    .option('--amount <AMOUNT>', 'another amount than the one that is due')
    .action(async (payment, { amount }) => {
      const chain = openChain(terminal.env);
      const checkout = await findCheckout(chain, payment);
      const to = checkout.deposit_address.address;
      const paid = amount ?? checkout.amount;
      const hash = await pay(chain, { to, asset: checkout.asset, amount: paid });
      terminal.out(`Paid ${paid} ${checkout.asset} to ${to} in ${hash}\n`);
      terminal.out(`${await readBalance(chain, to, checkout.asset)}\n`);
    });
  command
    .command('balance')
    .argument('<address>', 'an account of the chain')
    .description('Prints what the account has on the chain.')
    .addOption(new Option('--asset <CODE>', 'the coin or token').default('USDT'))
    .action(async (address, { asset }) => {
      if (!isAddress(address)) throw new UsageError(`${address} is not an address.`);
      terminal.out(`${await readBalance(openChain(terminal.env), address, asset)}\n`);
    });
  return runCommand(command, args, terminal);
};

interface DevChain {
  rpc: Rpc;
  tokens: Record<string, { address: Address; decimals: number }>;
  walletUrl: string;
  apiKey: string;
}

/** @throws SetupError when `npm start -- --chain` has not run */
function openChain(env: NodeJS.ProcessEnv): DevChain {
  const layout = dataLayout(env);
  const { chain, wallet_url: walletUrl } = readPrivateJson(layout.settings) as Partial<DevSettings>;
  const { ONCHAIN_TEST_API_KEY: apiKey } = readPrivateJson(layout.secrets);
  if (chain === undefined || walletUrl === undefined || typeof apiKey !== 'string') {
    throw new SetupError('No local chain is running. Run `npm start -- --chain`.');
  }
  return { rpc: connectRpc(chain.rpc_url), tokens: chain.tokens, walletUrl, apiKey };
}

interface ShownCheckout {
  amount: string;
  asset: string;
  deposit_address: { address: Address };
}

async function findCheckout({ walletUrl, apiKey }: DevChain, id: string): Promise<ShownCheckout> {
  const response = await fetch(`${walletUrl}/v1/checkouts/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  if (response.status === 404) {
    throw new SetupError(`The wallet has no checkout of ${id}. Is the payment on this network?`);
  }
  if (!response.ok) throw new SetupError(`The wallet answered with HTTP ${response.status}.`);
  const { checkout } = (await response.json()) as { checkout: ShownCheckout };
  return checkout;
}

async function pay(
  chain: DevChain,
  { to, asset, amount }: { to: Address; asset: string; amount: string },
): Promise<Hex> {
  const { rpc } = chain;
  const accounts = await rpc<Address[]>('eth_accounts');
  const from = accounts[CUSTOMER];
  if (from === undefined) throw new SetupError('The local chain has no unlocked accounts.');
  const { address: token, decimals } = findAsset(chain, asset);
  const value = parseUnits(amount, decimals);
  const hash =
    token === null
      ? await rpc<Hex>('eth_sendTransaction', [{ from, to, value: numberToHex(value) }])
      : await callContract(rpc, {
          from,
          to: token,
          contract: 'TestToken',
          functionName: 'transfer',
          args: [to, value],
        });
  const { status } = await waitForReceipt(rpc, hash);
  if (status !== '0x1') throw new SetupError(`The transaction ${hash} failed.`);
  return hash;
}

async function readBalance(chain: DevChain, account: Address, asset: string): Promise<string> {
  const { address: token, decimals } = findAsset(chain, asset);
  const units =
    token === null
      ? BigInt(await chain.rpc<Hex>('eth_getBalance', [account, 'latest']))
      : await readTokenBalance(chain.rpc, token, account);
  return `${account} has ${formatUnits(units, decimals)} ${asset}`;
}

function findAsset(
  { tokens }: DevChain,
  asset: string,
): { address: Address | null; decimals: number } {
  if (asset === COIN.asset) return { address: null, decimals: COIN.decimals };
  const token = tokens[asset];
  if (token === undefined) {
    throw new UsageError(
      `${asset} is not on the local chain. Use one of ${[COIN.asset, ...Object.keys(tokens)].join(', ')}.`,
    );
  }
  return token;
}

runAsMain(module, runDevChain);
