/** Whether a live recipient is paid follows from its screening (decisions/controls#screening). */
import { SCREENING_SCENARIOS } from '../../../src/rails/sandbox/screening/scenarios';
import { payTo } from '../../support/merchant/merchant-client';
import {
  casesOf,
  list,
  openWithoutWait,
  recipientAt,
  screeningOf,
  toAddress,
} from '../../support/merchant/screening-steps';
import { openMerchant } from '../../support/payout/payout-steps';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);

const CLEAR = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const REVIEW = SCREENING_SCENARIOS.review.tron;
const BLOCK = SCREENING_SCENARIOS.block.tron;

const open = () => openWithoutWait(gateway);
const ask = () => gateway.screenRecipients();

test('without a source nothing is asked, and nothing is written', async () => {
  const { client } = await open();
  const id = await recipientAt(client, BLOCK);
  expect(await screeningOf(gateway, id)).toBeNull();
  expect((await client.createPayout(payTo(id))).status).toBe(201);
});

describe('with two lists', () => {
  beforeAll(async () => {
    await list(gateway, 'watched', 'review', REVIEW);
    await list(gateway, 'banned', 'block', BLOCK);
  });

  test.each([
    ['clear', CLEAR, 201, []],
    ['review', REVIEW, 409, ['recipient_review']],
    ['block', BLOCK, 409, ['recipient_blocked']],
  ])(
    'whether a recipient is paid follows from the verdict %s',
    async (verdict, address, status, kinds) => {
      const { client } = await open();
      const id = await recipientAt(client, address);
      expect(await screeningOf(gateway, id)).toBe('asking');
      const before = await client.createPayout(payTo(id));
      await ask();
      expect(await screeningOf(gateway, id)).toBe(verdict);
      const after = await client.createPayout(payTo(id));
      expect([before.status, after.status]).toEqual([409, status]);
      // Who asks too early and who is blocked read the same.
      expect(before.json.error.code).toBe('recipient_not_ready');
      expect(before.text).not.toMatch(/screen|sanction|block|list/i);
      if (status === 409) expect(after.json.error.message).toBe(before.json.error.message);
      const found = await casesOf(gateway, id);
      expect(found.map(({ kind }) => kind)).toEqual(kinds);
      for (const { details } of found) {
        expect(details).toMatchObject({ answers: [{ verdict }], destination: address });
      }
      const read = await client.get(`/recipients/${id}`);
      expect(read.text).not.toMatch(/screen|asking|block/i);
    },
  );

  test('a recipient of test mode is not asked about', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test' });
    const id = await recipientAt(client, BLOCK);
    expect(await screeningOf(gateway, id)).toBeNull();
    expect((await client.createPayout(payTo(id))).status).toBe(201);
  });

  test('another destination is asked about anew, another name is not', async () => {
    const { client } = await open();
    const id = await recipientAt(client, CLEAR);
    await ask();
    await client.patch(`/recipients/${id}`, { name: 'Another name' });
    expect(await screeningOf(gateway, id)).toBe('clear');
    await client.patch(`/recipients/${id}`, toAddress(BLOCK));
    expect(await screeningOf(gateway, id)).toBe('asking');
    await ask();
    expect(await screeningOf(gateway, id)).toBe('block');
    await client.patch(`/recipients/${id}`, toAddress(CLEAR));
    await ask();
    expect((await client.createPayout(payTo(id))).status).toBe(201);
  });
});
