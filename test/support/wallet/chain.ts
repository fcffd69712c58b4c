/**
 * A chain of a test's own: anvil on a free port with the test contracts deployed, and what a test
 * does to a chain. Blocks are mined at once for each transaction until `setAutomine(false)`;
 * `safe` is 4 blocks behind the head, `finalized` 8.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, type Hex, numberToHex } from 'viem';
import { FINALITY_BLOCKS, findAnvil, type Rpc, startAnvil } from '../../../src/dev/chain/anvil';
import {
  callContract,
  type ContractName,
  deployContract,
  waitForReceipt,
} from '../../../src/dev/chain/contracts';
import { stopProcess } from '../../../src/dev/processes';
import { describeWithProgram } from '../optional-program';
import { findFreePort } from '../../../src/dev/ports';
import { createTurns } from '../wait-for';

/** `describe` where anvil is installed; elsewhere a skipped one that says so on stderr. */
export function describeWithChain(name: string, tests: () => void): void {
  const remedy = '@foundry-rs/anvil has no program for this system.';
  describeWithProgram(findAnvil(), remedy, name, tests);
}

export interface TestToken {
  address: Address;
  decimals: number;
  contract: ContractName;
}

interface ReorgTransaction {
  /** A signed transaction, or the fields of one from an unlocked account. */
  transaction: Hex | Record<string, unknown>;
  /** 0: the first of the new blocks. */
  block: number;
}

export interface TestChain {
  url: string;
  chainId: number;
  rpc: Rpc;
  /** Unlocked, 10,000 coins each. The first one deployed the contracts. */
  accounts: readonly Address[];
  tokens: {
    /** 6 decimals, by the book. */
    USDC: TestToken;
    /** 6 decimals; transfer returns nothing; setFee, setPaused, setBlackListed. */
    USDT: TestToken;
    /** 18 decimals. */
    DAI: TestToken;
    /** transfer returns false and moves nothing. */
    FALSE: TestToken;
    /** Calls itself USDC and is not. */
    FAKE: TestToken;
  };
  /** Refuses coins until `setRefusing(false)`, then needs more than 21,000 gas. */
  awkwardReceiver: Address;
  /** forward, split and splitToken: coins by internal transfers, several logs in one transaction. */
  forwarder: Address;
  /** A contract's function from an unlocked account (default: the first). @returns the hash */
  call: (
    contract: ContractName,
    to: Address,
    functionName: string,
    args?: readonly unknown[],
    options?: { from?: Address; value?: bigint },
  ) => Promise<Hex>;
  mint: (token: TestToken, to: Address, amount: bigint) => Promise<Hex>;
  transferToken: (token: TestToken, from: Address, to: Address, amount: bigint) => Promise<Hex>;
  /** Coins by a transaction, from an unlocked account (default: the first). */
  send: (to: Address, wei: bigint, from?: Address) => Promise<Hex>;
  balanceOf: (token: TestToken | null, account: Address) => Promise<bigint>;
  blockNumber: (tag?: 'latest' | 'safe' | 'finalized') => Promise<number>;
  mine: (blocks?: number) => Promise<void>;
  /** A block every 200 ms from here on. */
  keepMining: () => void;
  /** Mines until the block that is the head now is `finalized`. */
  finalize: () => Promise<void>;
  /** False: transactions wait in the pool until `mine`. */
  setAutomine: (on: boolean) => Promise<void>;
  /**
   * Replaces the last blocks by as many new ones, which hold only the given transactions: the old
   * ones' do not return to the pool.
   */
  reorg: (depth: number, transactions?: readonly ReorgTransaction[]) => Promise<void>;
  /** Removes the last blocks. */
  rollback: (depth: number) => Promise<void>;
  /** Without a transaction. */
  setBalance: (account: Address, wei: bigint) => Promise<void>;
  setNonce: (account: Address, nonce: number) => Promise<void>;
  /** Sets the base fee of the next block; later ones follow from it. */
  setNextBaseFee: (wei: bigint) => Promise<void>;
  setBlockGasLimit: (gas: bigint) => Promise<void>;
  /** Removes a transaction, or all of them, from the pool. */
  drop: (hash: Hex | 'all') => Promise<void>;
  /** The node stops answering and keeps its connections, until `resume`. Ends when it is silent. */
  suspend: () => Promise<void>;
  resume: () => void;
  stop: () => Promise<void>;
}

export const TEST_CHAIN_ID = 31_337;

export async function startChain({ chainId = TEST_CHAIN_ID } = {}): Promise<TestChain> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-chain-'));
  const port = await findFreePort();
  const anvil = await startAnvil({ port, chainId, logFile: join(folder, 'anvil.log') });
  const kill = (): void => void process.kill(anvil.process.pid, 'SIGKILL');
  process.once('exit', kill);
  const { rpc, accounts, url } = anvil;
  const deployer = accounts[0]!;
  const deploy = (name: ContractName, args?: readonly unknown[]): Promise<Address> =>
    deployContract(rpc, deployer, name, args);
  const token = async (
    contract: ContractName,
    decimals: number,
    args?: readonly unknown[],
  ): Promise<TestToken> => ({ address: await deploy(contract, args), decimals, contract });
  // One after the other: each takes the next nonce, so that the addresses are always the same.
  const tokens = {
    USDC: await token('TestToken', 6, ['USD Coin', 'USDC', 6]),
    USDT: await token('TetherLikeToken', 6),
    DAI: await token('TestToken', 18, ['Dai Stablecoin', 'DAI', 18]),
    FALSE: await token('FalseReturningToken', 6),
    FAKE: await token('TestToken', 6, ['USD Coin', 'USDC', 6]),
  };
  const awkwardReceiver = await deploy('AwkwardReceiver');
  const forwarder = await deploy('Forwarder');

  let automine = true;
  // The node gives two that arrive together the same nonce, and refuses one.
  const sending = createTurns();
  const sent = (send: () => Promise<Hex>): Promise<Hex> =>
    sending(async () => {
      const hash = await send();
      if (automine) await waitForReceipt(rpc, hash);
      return hash;
    });
  // A node that adds a block while it replaces others loses some of them.
  const changing = createTurns();
  const call: TestChain['call'] = (contract, to, functionName, args = [], options = {}) =>
    sent(() => callContract(rpc, { from: deployer, to, contract, functionName, args, ...options }));
  const mine = async (blocks = 1): Promise<void> => {
    await changing(() => rpc('anvil_mine', [numberToHex(blocks)]));
  };
  let mining: NodeJS.Timeout | undefined;
  return {
    ...{ url, chainId, rpc, accounts, tokens, awkwardReceiver, forwarder, call, mine },
    mint: (of, to, amount) => call(of.contract, of.address, 'mint', [to, amount]),
    transferToken: (of, from, to, amount) =>
      call(of.contract, of.address, 'transfer', [to, amount], { from }),
    send: (to, wei, from = deployer) =>
      sent(() => rpc<Hex>('eth_sendTransaction', [{ from, to, value: numberToHex(wei) }])),
    balanceOf: async (of, account) => {
      if (of === null) return BigInt(await rpc<Hex>('eth_getBalance', [account, 'latest']));
      // balanceOf(address)
      const data = `0x70a08231${account.slice(2).padStart(64, '0')}`;
      return BigInt(await rpc<Hex>('eth_call', [{ to: of.address, data }, 'latest']));
    },
    blockNumber: async (tag = 'latest') => {
      const block = await rpc<{ number: Hex }>('eth_getBlockByNumber', [tag, false]);
      return Number(block.number);
    },
    keepMining: () => {
      mining = setInterval(() => void mine().catch(() => undefined), 200);
    },
    finalize: () => mine(FINALITY_BLOCKS),
    setAutomine: async (on) => {
      await rpc('evm_setAutomine', [on]);
      automine = on;
    },
    reorg: (depth, transactions = []) =>
      changing(() =>
        rpc('anvil_reorg', [depth, transactions.map((one) => [one.transaction, one.block])]),
      ),
    rollback: (depth) => changing(() => rpc('anvil_rollback', [depth])),
    setBalance: (account, wei) => rpc('anvil_setBalance', [account, numberToHex(wei)]),
    setNonce: (account, nonce) => rpc('anvil_setNonce', [account, numberToHex(nonce)]),
    setNextBaseFee: (wei) => rpc('anvil_setNextBlockBaseFeePerGas', [numberToHex(wei)]),
    setBlockGasLimit: (gas) => rpc('evm_setBlockGasLimit', [numberToHex(gas)]),
    drop: async (hash) => {
      if (hash === 'all') await rpc('anvil_dropAllTransactions');
      else await rpc('anvil_dropTransaction', [hash]);
    },
    suspend: async () => {
      process.kill(anvil.process.pid, 'SIGSTOP');
      while (await answersWithin(url, 100));
    },
    resume: () => process.kill(anvil.process.pid, 'SIGCONT'),
    stop: async () => {
      clearInterval(mining);
      process.off('exit', kill);
      await stopProcess(anvil.process.pid, { signal: 'SIGKILL', graceMs: 5_000 });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A signal stops a process a moment after it is sent; until then the node still answers. */
async function answersWithin(url: string, timeoutMs: number): Promise<boolean> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  return fetch(url, { method: 'POST', headers, body, signal }).then(
    () => true,
    () => false,
  );
}
