/** Sweeps on a chain that charges for data on the first layer, and with a node that refuses. */
import { type Address, type Hex, parseTransaction, recoverTransactionAddress, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { amount } from '../../src/domain/money';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { estimateFee } from '../../src/rails/wallet/sender/fee-estimate';
import {
  planSweep,
  type SweepItem,
  type SweepOrder,
  type SweepPlan,
} from '../../src/rails/wallet/sweep/plan';
import { awaitFunding, awaitSweep, fundSweep, sendSweep } from '../../src/rails/wallet/sweep/steps';
import {
  cancelSweep,
  describeOpenSweeps,
  findSweep,
  storeSweep,
} from '../../src/rails/wallet/sweep/store';
import { readStatus } from '../../src/rails/wallet/status';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import {
  type NodeCall,
  type NodeAnswer,
  type NodeProxy,
  startNodeProxy,
} from '../support/wallet/node-proxy';
import { createTestSigner, DEPOSIT_ACCOUNT, testNetwork } from '../support/wallet/wallet';
import { waitFor } from '../support/wait-for';
import { createDepositsWorld, type DepositsWorld, openTestCheckout, pay } from './deposits-world';

const ORACLE: Address = '0x420000000000000000000000000000000000000F';
const L1_FEE = 10n ** 12n;

describeWithChain('a sweep', () => {
  let chain: TestChain;
  let proxy: NodeProxy;
  let world: DepositsWorld;
  let destination: Address;
  let refuse: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer>;

  beforeAll(async () => {
    chain = await startChain();
    proxy = await startNodeProxy(chain.url, (call) => refuse(call));
  });
  afterAll(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(async () => {
    refuse = () => undefined;
    destination = createTestSigner().address;
    await chain.rpc('anvil_setCode', [ORACLE, '0x']);
    world = await createDepositsWorld(chain);
  });
  afterEach(() => world.close());

  const order = (): SweepOrder => ({
    chain: createChain(testNetwork(chain, { rpcUrls: [proxy.url] })),
    asset: 'ETH',
    to: destination,
    minimum: null,
  });
  /** Checkouts that are paid in coins, final. */
  const paidCheckouts = async (count: number): Promise<Address[]> => {
    const addresses: Address[] = [];
    for (let index = 0; index < count; index += 1) {
      const { address } = await openTestCheckout(world, { asset: 'ETH', amount: amount('0.1') });
      await pay(chain, null, address, 10n ** 17n);
      addresses.push(address);
    }
    await chain.finalize();
    await world.follow();
    return addresses;
  };
  const signItem = ({ addressIndex, transaction }: SweepItem): Promise<Hex> => {
    const key = DEPOSIT_ACCOUNT.deriveChild(0).deriveChild(addressIndex).privateKey;
    return privateKeyToAccount(toHex(key!)).signTransaction(transaction);
  };
  const signPlan = async (): Promise<{
    plan: SweepPlan;
    signed: Hex[];
  }> => {
    const plan = await planSweep(world.db, order());
    const signed: Hex[] = [];
    for (const item of plan.items) signed.push(await signItem(item));
    return { plan, signed };
  };
  /** What its workflow does, when every address has its coins. @returns how many addresses are swept */
  const carryOut = async (plan: SweepPlan, signed: readonly Hex[]): Promise<number> => {
    const parts = { db: world.db, chain: order().chain };
    const signal = new AbortController().signal;
    const id = await storeSweep(world.db, order(), plan, signed);
    await sendSweep(parts, id, signal);
    return whileMining(awaitSweep(parts, id, signal));
  };
  /** A contract that returns the fee for any question, and op-geth's rule for its pool. */
  const chargeForData = async (): Promise<void> => {
    const word = L1_FEE.toString(16).padStart(64, '0');
    await chain.rpc('anvil_setCode', [ORACLE, `0x7f${word}60005260206000f3`]);
    refuse = async ({ method, params }) => {
      if (method !== 'eth_sendRawTransaction') return undefined;
      const raw = params[0] as `0x02${string}`;
      const { value = 0n, gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw);
      const from = await recoverTransactionAddress({ serializedTransaction: raw });
      const balance = BigInt(await chain.rpc<Hex>('eth_getBalance', [from, 'latest']));
      const cost = value + gas * maxFeePerGas + L1_FEE;
      if (balance >= cost) return undefined;
      const message = `insufficient funds for gas * price + value: balance ${balance}, tx cost ${cost}`;
      return { error: { code: -32000, message } };
    };
  };
  /** Mines while something waits for final blocks. */
  const whileMining = async <T>(work: Promise<T>): Promise<T> => {
    const over = new AbortController();
    const mining = (async () => {
      while (!over.signal.aborted) await chain.finalize();
    })();
    try {
      return await work;
    } finally {
      over.abort();
      await mining;
    }
  };

  it('of coins leaves the fee for data on the first layer at the address', async () => {
    await chargeForData();
    await paidCheckouts(2);
    const { plan, signed } = await signPlan();
    expect(plan.items).toHaveLength(2);
    expect(await carryOut(plan, signed)).toBe(2);
    expect(await chain.balanceOf(null, destination)).toBe(
      plan.items.reduce((sum, { units }) => sum + units, 0n),
    );
  });

  it('leaves out tokens that are worth less than what it costs to move them', async () => {
    const [rich, poor] = [await openTestCheckout(world), await openTestCheckout(world)];
    await pay(chain, chain.tokens.USDC, rich.address, 100_000_000n);
    await pay(chain, chain.tokens.USDC, poor.address, 10_000n);
    await chain.finalize();
    await world.follow();
    const plan = await planSweep(world.db, { ...order(), asset: 'USDC' });
    expect(plan.items.map(({ address }) => address)).toEqual([rich.address]);
    expect(plan.small).toBe(1);
  });

  it('is estimated with the fee for data, as a payout is', async () => {
    const { chain: plain } = order();
    const before = await estimateFee(plain, 'ETH');
    await chargeForData();
    const after = await estimateFee(order().chain, 'ETH');
    expect(Number(after)).toBeGreaterThan(Number(before));
  });

  it('moves the other addresses when a node refuses one', async () => {
    const [first] = await paidCheckouts(3);
    refuse = async ({ method, params }) => {
      if (method !== 'eth_sendRawTransaction') return undefined;
      const raw = params[0] as `0x02${string}`;
      const from = await recoverTransactionAddress({ serializedTransaction: raw });
      if (from !== first) return undefined;
      return { error: { code: -32000, message: 'a rule of this node' } };
    };
    const { plan, signed } = await signPlan();
    const parts = { db: world.db, chain: order().chain };
    const over = new AbortController();
    const id = await storeSweep(world.db, order(), plan, signed);
    await sendSweep(parts, id, over.signal);
    const waiting = awaitSweep(parts, id, over.signal).catch(() => 0);
    await whileMining(
      waitFor('two swept addresses', async () => {
        const sweep = await findSweep(world.db, id);
        return sweep?.transactions.filter(({ isMoved }) => isMoved === true).length === 2;
      }),
    );
    over.abort();
    await waiting;
    const [open] = await describeOpenSweeps(world.db, chain.chainId);
    const refusal = expect.stringContaining('a rule of this node');
    expect(open!.refused).toMatchObject([{ address: first, refusal }]);
    expect(await chain.balanceOf(null, destination)).toBe(
      plan.items
        .filter(({ address }) => address !== first)
        .reduce((sum, { units }) => sum + units, 0n),
    );
  });

  it('moves the other addresses when the funding of one fails, and the status says so', async () => {
    const tokens: Address[] = [];
    for (let index = 0; index < 2; index += 1) {
      const { address } = await openTestCheckout(world);
      await chain.setBalance(address, 0n);
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      tokens.push(address);
    }
    await chain.finalize();
    await world.follow();
    const plan = await planSweep(world.db, { ...order(), asset: 'USDC' });
    const raws = await Promise.all(plan.items.map(signItem));
    const parts = { db: world.db, chain: order().chain };
    const signal = new AbortController().signal;
    const id = await storeSweep(world.db, { ...order(), asset: 'USDC' }, plan, raws);
    expect(await fundSweep(parts, id)).toBe(2);
    // What the sender does with the two fundings.
    const [lost, funded] = tokens as [Address, Address];
    await world.db.query(
      `UPDATE wallet.transfer SET status = 'failed', failure_code = 'destination_unreachable'
       WHERE destination = $1`,
      [lost],
    );
    await world.db.query("UPDATE wallet.transfer SET status = 'confirmed' WHERE destination = $1", [
      funded,
    ]);
    await chain.setBalance(funded, 10n ** 18n);
    // Earlier tests may have left tokens at the same addresses.
    const left = await chain.balanceOf(chain.tokens.USDC, lost);
    const { units } = plan.items.find(({ address }) => address === funded)!;

    expect(await awaitFunding(parts, id, signal)).toBeNull();
    await sendSweep(parts, id, signal);
    const [status] = await readStatus(world.db, [world.network]);
    expect(status!.sweeps).toMatchObject([
      {
        id,
        addresses: 2,
        open: 1,
        refused: [{ address: lost, refusal: expect.stringContaining('funding') }],
      },
    ]);
    expect(await whileMining(awaitSweep(parts, id, signal))).toBe(1);
    expect(await chain.balanceOf(chain.tokens.USDC, destination)).toBe(units);
    expect(await chain.balanceOf(chain.tokens.USDC, lost)).toBe(left);
  });

  it('is cancelled by an operator while a node refuses it, and ordered again', async () => {
    await paidCheckouts(2);
    refuse = ({ method }) =>
      method === 'eth_sendRawTransaction'
        ? { error: { code: -32000, message: 'a rule of this node' } }
        : undefined;
    const { plan, signed } = await signPlan();
    const parts = { db: world.db, chain: order().chain };
    const signal = new AbortController().signal;
    const id = await storeSweep(world.db, order(), plan, signed);
    await sendSweep(parts, id, signal);
    const [open] = await describeOpenSweeps(world.db, chain.chainId);
    expect(open).toMatchObject({ id, open: 2, refused: [{}, {}] });

    expect(await cancelSweep(world.db, id, { by: 'alice', reason: 'a node' })).toBe(true);
    expect(await awaitFunding(parts, id, signal)).toBeNull();
    expect(await awaitSweep(parts, id, signal)).toBe(0);
    expect(await cancelSweep(world.db, id, { by: 'alice', reason: 'again' })).toBe(false);

    refuse = () => undefined;
    const again = await signPlan();
    const next = await storeSweep(world.db, order(), again.plan, again.signed);
    await sendSweep(parts, next, signal);
    expect(await whileMining(awaitSweep(parts, next, signal))).toBe(2);
    expect((await findSweep(world.db, next))?.failure).toBeNull();
  });
});
