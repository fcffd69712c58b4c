/** What a merchant's logo may be. Its header is read, and nothing is decoded. */

export const LOGO_BYTES_MAX = 64 * 1024;
export const LOGO_PIXELS = { min: 32, max: 1024 };

export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp';

interface Size {
  width: number;
  height: number;
}

const FORMATS: readonly [LogoType, (content: Buffer) => Size | null][] = [
  ['image/png', readPng],
  ['image/jpeg', readJpeg],
  ['image/webp', readWebp],
];

/** Where the dashboard's site serves it to everybody. */
export function logoPath(sha256: string): string {
  return `/logos/${sha256}`;
}

/** @returns null for another type of file, or one whose header is incomplete */
export function readImage(content: Buffer): (Size & { type: LogoType }) | null {
  for (const [type, read] of FORMATS) {
    const size = read(content);
    if (size !== null) return { type, ...size };
  }
  return null;
}

const PNG_START = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

function readPng(content: Buffer): Size | null {
  if (content.length < 24 || !startsWith(content, PNG_START)) return null;
  return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}

const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);
/** These share the range of the frames' markers and start no frame: DHT, JPG and DAC. */
const NO_FRAME = [0xc4, 0xc8, 0xcc];

/** The size is in the segment that starts the frame, after segments of any length. */
function readJpeg(content: Buffer): Size | null {
  if (!startsWith(content, JPEG_START)) return null;
  let at = 2;
  while (at + 9 <= content.length && content[at] === 0xff) {
    const marker = content.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.includes(marker)) {
      return { width: content.readUInt16BE(at + 7), height: content.readUInt16BE(at + 5) };
    } else at += 2 + content.readUInt16BE(at + 2);
  }
  return null;
}

/** One of three chunks says the size: of a lossy, a lossless or an extended file. */
function readWebp(content: Buffer): Size | null {
  const text = (at: number) => content.toString('latin1', at, at + 4);
  if (content.length < 30 || text(0) !== 'RIFF' || text(8) !== 'WEBP') return null;
  switch (text(12)) {
    case 'VP8 ':
      return {
        width: content.readUInt16LE(26) & 0x3fff,
        height: content.readUInt16LE(28) & 0x3fff,
      };
    case 'VP8L': {
      const bits = content.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: content.readUIntLE(24, 3) + 1, height: content.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

function startsWith(content: Buffer, start: Buffer): boolean {
  return content.subarray(0, start.length).equals(start);
}
