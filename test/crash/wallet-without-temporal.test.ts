/**
 * Temporal is away while payouts and deposits run through the gateway and its wallet: the wallet needs it for sweeps
 * alone, a pause holds because it is a row, and nothing is lost or paid twice.
 */
import { type Address, getAddress } from 'viem';
import { amount } from '../../src/domain/money';
import { ONCHAIN } from '../../src/adapters/providers/onchain/adapter';
import {
  createProviderAgent,
  createProviderCaller,
} from '../../src/adapters/providers/provider-http';
import { describeWithChain } from '../support/wallet/chain';
import { brokenInvariants } from '../support/servers/gateway';
import { type GatewayWithWallet, startGatewayWithWallet } from '../support/wallet/gateway-wallet';
import type { MerchantClient } from '../support/merchant/merchant-client';
import { type MortalServers, startMortalServers } from '../support/chaos/mortal-servers';
import { openedPayment } from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant } from '../support/payout/payout-steps';
import { buildOrder } from '../support/servers/sandbox';
import { createTestSigner, WALLET_KEYS } from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';

const ON_CHAIN = { currency: 'USDC', network: 'ethereum', provider: 'onchain_provider' };

describeWithChain('a gateway with a wallet, while Temporal is away', () => {
  let servers: MortalServers;
  let world: GatewayWithWallet;
  let client: MerchantClient;
  const agent = createProviderAgent();
  /** Receiver → units that it has to get. */
  const owed = new Map<Address, bigint>();

  beforeAll(async () => {
    servers = await startMortalServers();
    world = await startGatewayWithWallet();
    ({ client } = await openMerchant(world.gateway, { mode: 'test', funds: { USDC: '1000' } }));
    world.chain.keepMining();
  });
  afterAll(async () => {
    await agent.close();
    await world.stop();
    await servers.stop();
  });

  const receiver = (): Address => {
    const { address } = createTestSigner();
    owed.set(address, 5_000_000n);
    return address;
  };
  const payout = () =>
    acceptedPayout(client, {
      ...{ currency: 'USDC', network: 'ethereum', amount: '5' },
      destination: { type: 'crypto_address', value: receiver() },
    });
  /** An order that reaches the wallet, which the gateway cannot give without Temporal. */
  const order = async (): Promise<string> => {
    const baseUrl = world.gateway.env['ONCHAIN_TEST_URL'] ?? '';
    const caller = createProviderCaller(agent, 8_000);
    const provider = ONCHAIN.create({ baseUrl, ...WALLET_KEYS, timeoutMs: 8_000 }, caller);
    const one = buildOrder('onchain_provider', {
      ...{ currency: 'USDC', network: 'ethereum', amount: amount('5') },
      destination: { type: 'crypto_address', value: receiver(), memo: null },
    });
    expect((await provider.submitPayout(one)).kind).toBe('accepted');
    return one.reference;
  };
  const statusOf = async (reference: string): Promise<string | undefined> => {
    const [row] = await world.db.query<{ status: string }>(
      'SELECT status FROM wallet.transfer WHERE client_reference = $1',
      [reference],
    );
    return row?.status;
  };
  const whenConfirmed = (reference: string): Promise<true> =>
    waitThroughFaults(
      `${reference} to be confirmed`,
      async () => (await statusOf(reference)) === 'confirmed',
    );
  const openPayment = async (): Promise<{ id: string; address: Address }> => {
    const id = await openedPayment(client, { ...ON_CHAIN, amount: '20' });
    const [row] = await world.db.query<{ address: string }>(
      'SELECT address FROM wallet.checkout WHERE client_reference = $1',
      [id],
    );
    return { id, address: getAddress(row!.address) };
  };
  const whenStatus = (table: 'payments' | 'payouts', id: string, status: string): Promise<true> =>
    waitThroughFaults(`${id} to be ${status}`, async () => {
      const [row] = await world.gateway.db.query<{ status: string }>(
        `SELECT status FROM ${table} WHERE id = ?`,
        [id],
      );
      return row?.status === status;
    });

  test('the wallet goes on, and the gateway learns of it afterwards', async () => {
    const { chain, db } = world;
    const payment = await openPayment();
    const before = [await payout(), await payout(), await payout(), await payout()];
    await servers.temporal.kill();
    await chain.mint(chain.tokens.USDC, payment.address, 20_000_000n);
    await whenConfirmed(await order());
    await waitThroughFaults('the final deposit', async () => {
      const found = await db.query(
        `SELECT 1 FROM wallet.deposit JOIN wallet.checkout ON checkout.id = checkout_id
         WHERE client_reference = $1 AND deposit.state = 'final'`,
        [payment.id],
      );
      return found.length === 1;
    });
    await servers.temporal.start();
    for (const id of before) await whenStatus('payouts', id, 'completed');
    await whenStatus('payments', payment.id, 'completed');
    await whenStatus('payouts', await payout(), 'completed');
  });

  test('a pause holds over a restart without Temporal, and ends without it', async () => {
    const { chain, command, db } = world;
    const payment = await openPayment();
    const before = [await payout(), await payout()];
    await servers.temporal.kill();
    const paused = await command('chain', 'pause', 'ethereum', '--by', 'alice', '--reason', 'test');
    expect(paused).toContain('is paused');
    await world.wallet.kill();
    await world.wallet.start();
    const attempts = async () => (await db.query('SELECT 1 FROM wallet.attempt')).length;
    const made = await attempts();
    const reference = await order();
    await chain.mint(chain.tokens.USDC, payment.address, 20_000_000n);
    expect(await command('status')).toContain('the chain was paused by alice');

    expect(await attempts()).toBe(made);
    expect(await statusOf(reference)).toBe('queued');

    await command('chain', 'resume', 'ethereum', '--by', 'bob');
    await whenConfirmed(reference);
    await servers.temporal.start();
    for (const id of before) await whenStatus('payouts', id, 'completed');
    await whenStatus('payments', payment.id, 'completed');
  });

  test('everybody got the money once, and the books agree', async () => {
    const { chain, gateway, signer } = world;
    const got = await Promise.all(
      [...owed.keys()].map((address) => chain.balanceOf(chain.tokens.USDC, address)),
    );
    expect(got.map(String)).toEqual([...owed.values()].map(String));
    const count = await chain.rpc<string>('eth_getTransactionCount', [signer.address, 'latest']);
    expect(Number(BigInt(count))).toBe(owed.size);
    expect(await brokenInvariants(gateway)).toEqual([]);
    const sums = await world.sums();
    expect(sums.map(({ asset, difference }) => [asset, String(difference)])).toEqual([
      ['ETH', '0'],
      ['USDC', '0'],
    ]);
  });
});
