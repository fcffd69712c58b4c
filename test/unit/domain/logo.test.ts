import { readImage } from '../../../src/domain/logo';

const bytes = (hex: string, length = 40) =>
  Buffer.concat([Buffer.from(hex.replaceAll(' ', ''), 'hex')], length);

const WEBP = '52494646 00000000 57454250';

/** As encoders write them; the last number of each is a height of 48. */
const IMAGES: [string, Buffer, object][] = [
  [
    'PNG',
    bytes('89504e47 0d0a1a0a 0000000d 49484452 00000040 00000030'),
    { type: 'image/png', width: 64, height: 48 },
  ],
  [
    'JPEG with other segments before its frame',
    bytes('ffd8 ffe0 0004 0000 ffc4 0003 00 ff ffc2 0011 08 0030 0040'),
    { type: 'image/jpeg', width: 64, height: 48 },
  ],
  [
    'lossy WebP',
    bytes(`${WEBP} 56503820 00000000 000000 9d012a 4000 3000`),
    { type: 'image/webp', width: 64, height: 48 },
  ],
  [
    'lossless WebP',
    // 14 bits are the width less 1, and the next 14 the height less 1.
    bytes(`${WEBP} 5650384c 00000000 2f 3fc00b00`),
    { type: 'image/webp', width: 64, height: 48 },
  ],
  [
    'extended WebP',
    bytes(`${WEBP} 56503858 00000000 00000000 3f0000 2f0000`),
    { type: 'image/webp', width: 64, height: 48 },
  ],
];

test.each(IMAGES)('the size of a %s is read', (_, content, expected) => {
  expect(readImage(content)).toEqual(expected);
});

test.each(IMAGES)('a %s that ends within its header is none', (_, content) => {
  for (let length = 0; length < 18; length++) {
    expect(readImage(content.subarray(0, length))).toBeNull();
  }
});

test.each([
  ['GIF', Buffer.from('GIF89a'.padEnd(40))],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['JPEG without a frame', bytes('ffd8 ffe0 0004 0000', 8)],
  ['JPEG whose segment has no length', bytes('ffd8 ffe0 0000 0000')],
])('a %s is none', (_, content) => {
  expect(readImage(content)).toBeNull();
});
