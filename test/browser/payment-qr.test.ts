/** The QR code of the hosted page, read from its picture as a wallet's camera does. */
import type jsQr from 'jsqr';
import type { Page } from 'playwright-core';
import { amount, ZERO } from '../../src/domain/money';
import { type PageView, renderCheckoutPage } from '../../src/rails/onchain-api/page/page';
import type { EvmPayment } from '../../src/rails/onchain-api/page/payment-uri';
import { describeWithBrowser, useBrowser } from './browser';

const EVM = '0xD30A72ee550eea09164E81Af207E040E499467aA';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const NOW = new Date('2026-11-27T12:00:00.000Z');

interface Case {
  network: string;
  asset: string;
  address: string;
  memo?: string;
  evm?: EvmPayment;
  /** What is left to pay. */
  due: string;
  read: string;
}

const CASES: Case[] = [
  {
    ...{ network: 'ethereum', asset: 'USDT', address: EVM, due: '25.50000000' },
    evm: { chainId: 1, token: USDT, decimals: 6 },
    read: `ethereum:${USDT}@1/transfer?address=${EVM}&uint256=25500000`,
  },
  {
    ...{ network: 'base', asset: 'USDC', address: EVM, due: '0.00000100' },
    evm: { chainId: 8453, token: USDC, decimals: 6 },
    read: `ethereum:${USDC}@8453/transfer?address=${EVM}&uint256=1`,
  },
  {
    ...{ network: 'ethereum', asset: 'ETH', address: EVM, due: '0.12345678' },
    evm: { chainId: 1, token: null, decimals: 18 },
    read: `ethereum:${EVM}@1?value=123456780000000000`,
  },
  {
    ...{ network: 'bitcoin', asset: 'BTC', address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
    due: '0.00150000',
    read: 'bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.0015',
  },
  {
    ...{ network: 'xrpl', asset: 'XRP', address: 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH' },
    ...{ memo: '4294967295', due: '100.00000000' },
    read: 'xrpl:rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH?amount=100&dt=4294967295',
  },
  {
    ...{ network: 'tron', asset: 'USDT', address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    due: '10.00000000',
    read: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  },
];

function viewOf({ network, asset, address, memo = '', evm, due }: Case): PageView {
  return {
    checkout: {
      ...{ id: 'c0ffee', reference: 'pay_1', url: 'https://pay.example/checkout/c0ffee' },
      ...{ state: 'open', isHeld: false, amount: amount(due), asset, network, address },
      ...{ memo: memo === '' ? null : memo, deposits: [], refunds: [], failureCode: null },
      ...{ expiresAt: new Date(NOW.getTime() + 3_600_000), createdAt: NOW, updatedAt: NOW },
    },
    ...{ mode: 'live', merchant: 'Ada’s shop', logoUrl: null, description: null, successUrl: null },
    ...{ cancelUrl: 'https://shop.example/basket', place: network, evm: evm ?? null },
    ...{ arrived: ZERO, confirmed: ZERO, transfers: [], banner: null, now: NOW },
    ...{ canCancel: true, leaves: false },
  };
}

describeWithBrowser('the QR code of the hosted page', () => {
  const browser = useBrowser();
  let camera: Page;

  beforeAll(async () => {
    camera = await browser.newPage();
    // In the browser, because each global that a loop reads in jest's own context takes a microsecond.
    await camera.addScriptTag({ path: require.resolve('jsqr') });
  });

  const read = (picture: Buffer) =>
    camera.evaluate(
      async (source) => {
        const image = new Image();
        image.src = source;
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext('2d')!;
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        const { jsQR } = window as unknown as { jsQR: typeof jsQr };
        return jsQR(data, image.width, image.height)?.data;
      },
      `data:image/png;base64,${picture.toString('base64')}`,
    );

  test.each(CASES)('$network, $asset: a wallet reads $read', async (one) => {
    const page = await browser.newPage({ viewport: { width: 390, height: 900 } });
    await page.setContent(await renderCheckoutPage(viewOf(one), 'en'));
    expect(await read(await page.locator('.qr').screenshot())).toBe(one.read);
    const opens = page.getByRole('link', { name: 'Open in wallet' });
    expect(await opens.count()).toBe(one.read.includes(':') ? 1 : 0);
    await page.close();
  });
});
