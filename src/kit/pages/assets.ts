/**
 * Style, scripts and fonts of the pages, from the project and its packages. A URL contains a hash of
 * the content, so browsers keep a file for ever and get a changed one at once.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Middleware } from 'koa';

const PREFIX = '/assets/';

interface Asset {
  url: string;
  type: string;
  body: Buffer;
  /** The compressed bytes by content coding, made on first use. */
  coded: Map<string, Buffer>;
}

/** Every page loads the first one. decisions/pages#first-page says how it was made. */
const FONTS = [
  {
    file: join(__dirname, 'assets/inter-latin.woff2'),
    weights: '400 700',
    range:
      'U+0020-007E,U+00A0-00FF,U+0131,U+0152-0153,U+2013-2014,U+2018-2019,U+201C-201E,U+2022,' +
      'U+2026,U+2032-2033,U+2039-203A,U+20AC,U+2122,U+2191,U+2193,U+2212',
  },
  {
    file: require.resolve('@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2'),
    weights: '100 900',
    range:
      'U+0100-0130,U+0132-0151,U+0154-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,' +
      'U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,' +
      'U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF',
  },
];

const fonts = FONTS.map(({ file, weights, range }) => {
  const asset = makeAsset(basename(file), 'font/woff2', readFileSync(file));
  const face =
    `@font-face{font-family:Inter;font-style:normal;font-weight:${weights};font-display:swap;` +
    `src:url(${asset.url}) format('woff2');unicode-range:${range}}`;
  return { asset, face };
});

const style = makeAsset(
  'app.css',
  'text/css; charset=utf-8',
  Buffer.from(
    [
      ...fonts.map(({ face }) => face),
      readFileSync(join(dirname(require.resolve('basecoat-css')), 'basecoat.cdn.min.css'), 'utf8'),
      readFileSync(join(__dirname, 'assets/app.css'), 'utf8'),
    ].join('\n'),
  ),
);

const script = makeAsset(
  'app.js',
  'text/javascript; charset=utf-8',
  readFileSync(join(__dirname, 'assets/app.js')),
);

/** Only pages that use passkeys load it. */
const passkeys = makeAsset(
  'passkeys.js',
  'text/javascript; charset=utf-8',
  Buffer.concat([
    readFileSync(
      join(dirname(require.resolve('@simplewebauthn/browser')), '../dist/bundle/index.umd.min.js'),
    ),
    readFileSync(join(__dirname, 'assets/passkeys.js')),
  ]),
);

export const STYLE_URL = style.url;
export const SCRIPT_URL = script.url;
export const PASSKEYS_URL = passkeys.url;

const ASSETS = new Map(
  [style, script, passkeys, ...fonts.map(({ asset }) => asset)].map((asset) => [asset.url, asset]),
);

export const serveAssets: Middleware = async (ctx, next) => {
  const asset = ASSETS.get(ctx.path);
  if (asset === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD'))
    return next() as Promise<void>;
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Content-Type', asset.type);
  // A font is compressed already.
  const coding = asset.type.startsWith('font/') ? false : ctx.acceptsEncodings('br', 'gzip');
  ctx.vary('Accept-Encoding');
  if (coding === 'br' || coding === 'gzip') {
    ctx.set('Content-Encoding', coding);
    ctx.body = encoded(asset, coding);
  } else ctx.body = asset.body;
};

function encoded(asset: Asset, coding: 'br' | 'gzip'): Buffer {
  const known = asset.coded.get(coding);
  if (known !== undefined) return known;
  const body = coding === 'br' ? brotliCompressSync(asset.body) : gzipSync(asset.body);
  asset.coded.set(coding, body);
  return body;
}

function makeAsset(name: string, type: string, body: Buffer): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { url: `${PREFIX}${hash}-${name}`, type, body, coded: new Map() };
}
