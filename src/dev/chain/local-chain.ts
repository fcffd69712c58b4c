/**
 * The chain of `npm start -- --chain`: anvil with test tokens, kept in the data folder over
 * restarts. Its unlocked accounts hold test coins and tokens, so that any client can pay.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, type Hex, numberToHex } from 'viem';
import { type DataLayout, readPrivateJson, writePrivateJson } from '../../platform/lib/data-folder';
import type { LogLine } from '../progress';
import { FINALITY_BLOCKS, type Rpc, startAnvil } from './anvil';
import { callContract, type ContractName, deployContract, waitForReceipt } from './contracts';

export const CHAIN_ID = 31_337;

/** The gateway's network that the chain serves, in test mode. */
export const CHAIN_NETWORK = 'ethereum';
export const CHAIN_MODE = 'test';

const TOKENS = {
  USDT: { contract: 'TetherLikeToken', decimals: 6, args: [] },
  USDC: { contract: 'TestToken', decimals: 6, args: ['USD Coin', 'USDC', 6] },
} as const satisfies Record<
  string,
  { contract: ContractName; decimals: number; args: readonly unknown[] }
>;
type TokenCode = keyof typeof TOKENS;
const TOKEN_CODES = Object.keys(TOKENS) as TokenCode[];

/** The amount of each token that each unlocked account and the hot wallet get. */
const TOKEN_FUNDS = 1_000_000n * 10n ** 6n;
const COIN_FUNDS_WEI = 1_000n * 10n ** 18n;

const STATE_INTERVAL_SECONDS = '5';
/**
 * A block is mined each second until everything is final, and then now and then, so that an idle chain
 * stays small.
 */
const BUSY_BLOCK_MS = 1_000;
const IDLE_BLOCKS_MS = 15_000;

/** The member `chain` of dev.json; part of the project's stable interface. */
export interface ChainSettings {
  rpc_url: string;
  chain_id: number;
  network: string;
  mode: string;
  tokens: Record<string, { address: Address; decimals: number }>;
}

export interface LocalChain {
  settings: ChainSettings;
  /** Coins and tokens for an account that has none yet. */
  fund: (account: Address) => Promise<void>;
  /** Ends the production of blocks; the node is stopped by its process id. */
  stopMining: () => void;
}

export async function startLocalChain(
  layout: DataLayout,
  { port, log, onSpawn }: { port: number; log: LogLine; onSpawn: (pid: number) => void },
): Promise<LocalChain> {
  mkdirSync(layout.chain, { recursive: true });
  const anvil = await startAnvil({
    port,
    chainId: CHAIN_ID,
    logFile: layout.logOf('chain'),
    args: ['--state', join(layout.chain, 'state.json'), '--state-interval', STATE_INTERVAL_SECONDS],
    onSpawn,
  });
  const { rpc, url, accounts } = anvil;
  const deployer = accounts[0];
  if (deployer === undefined) throw new Error('anvil has no accounts');
  const addresses = await keepTokens(join(layout.chain, 'tokens.json'), rpc, deployer);
  for (const account of accounts) await fundTokens(rpc, { deployer, account, addresses });
  log(`the local chain is ready on ${url}`);
  return {
    settings: {
      rpc_url: url,
      chain_id: CHAIN_ID,
      network: CHAIN_NETWORK,
      mode: CHAIN_MODE,
      tokens: Object.fromEntries(
        TOKEN_CODES.map((code) => [
          code,
          { address: addresses[code], decimals: TOKENS[code].decimals },
        ]),
      ),
    },
    fund: async (account) => {
      const balance = BigInt(await rpc<Hex>('eth_getBalance', [account, 'latest']));
      if (balance === 0n) {
        const value = numberToHex(COIN_FUNDS_WEI);
        const transaction = { from: deployer, to: account, value };
        await waitForReceipt(rpc, await rpc<Hex>('eth_sendTransaction', [transaction]));
      }
      await fundTokens(rpc, { deployer, account, addresses });
    },
    stopMining: startMining(rpc),
  };
}

type TokenAddresses = Record<TokenCode, Address>;

/** Keeps the tokens of an earlier start, unless the chain's state is lost. */
async function keepTokens(path: string, rpc: Rpc, deployer: Address): Promise<TokenAddresses> {
  const kept = existsSync(path) ? (readPrivateJson(path) as Partial<TokenAddresses>) : {};
  const addresses = await eachToken(async (code) => {
    const address = kept[code];
    const hasCode =
      address !== undefined && (await rpc<Hex>('eth_getCode', [address, 'latest'])) !== '0x';
    if (hasCode) return address;
    return deployContract(rpc, deployer, TOKENS[code].contract, TOKENS[code].args);
  });
  writePrivateJson(path, addresses);
  return addresses;
}

async function fundTokens(
  rpc: Rpc,
  {
    deployer,
    account,
    addresses,
  }: Record<'deployer' | 'account', Address> & {
    addresses: TokenAddresses;
  },
): Promise<void> {
  for (const code of TOKEN_CODES) {
    const to = addresses[code];
    if ((await readTokenBalance(rpc, to, account)) > 0n) continue;
    const { contract } = TOKENS[code];
    const args = [account, TOKEN_FUNDS];
    const minting = { from: deployer, to, contract, functionName: 'mint', args };
    await waitForReceipt(rpc, await callContract(rpc, minting));
  }
}

/** Reads a balance in the token's smallest unit. */
export async function readTokenBalance(
  rpc: Rpc,
  token: Address,
  account: Address,
): Promise<bigint> {
  // balanceOf(address)
  const data = `0x70a08231${account.slice(2).padStart(64, '0')}`;
  return BigInt(await rpc<Hex>('eth_call', [{ to: token, data }, 'latest']));
}

/** Deploys one token after the other, because each deployment takes the next nonce. */
async function eachToken(of: (code: TokenCode) => Promise<Address>): Promise<TokenAddresses> {
  return { USDT: await of('USDT'), USDC: await of('USDC') };
}

interface NodeBlock {
  number: Hex;
  transactions: readonly Hex[];
}

/** @returns a function that ends the mining */
function startMining(rpc: Rpc): () => void {
  let busyUntil = 0n;
  let minedAt = -Infinity;
  const tick = async (): Promise<void> => {
    const head = await rpc<NodeBlock>('eth_getBlockByNumber', ['latest', false]);
    const number = BigInt(head.number);
    if (busyUntil === 0n || head.transactions.length > 0) {
      busyUntil = number + BigInt(FINALITY_BLOCKS);
    }
    if (number >= busyUntil && performance.now() - minedAt < IDLE_BLOCKS_MS) return;
    await rpc('anvil_mine', ['0x1']);
    minedAt = performance.now();
  };
  const timer = setInterval(() => {
    // The node is being stopped or has ended, and the wallet's log says so.
    tick().catch(() => undefined);
  }, BUSY_BLOCK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
