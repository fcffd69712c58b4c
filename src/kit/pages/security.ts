/** What protects the pages from other sites: headers, the origin of forms, the size of forms. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { PageRefusal } from './problems';

/** Everything comes from the project; no script or style is inside a page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function setSecurityHeaders(ctx: Context): void {
  ctx.set({
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    // With `no-referrer`, browsers send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
    'Cache-Control': 'no-store',
  });
}

/**
 * Whether a browser sends the form from one of our own pages. SameSite cookies are not enough:
 * another port of the same host is the same site. Browsers send Sec-Fetch-Site over HTTPS and to
 * localhost, and Origin with every POST.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = URL.parse(headers.origin ?? '');
  if (origin === null) return false;
  return origin.host === headers.host || origin.origin === URL.parse(publicUrl)?.origin;
}

/** PostgreSQL cannot store it, and nobody types it. @throws PageRefusal */
export function refuseNul(...all: URLSearchParams[]): void {
  const texts = all.flatMap((params) => [...params].flat());
  if (texts.some((text) => text.includes('\0'))) throw new PageRefusal('invalid_text');
}

const FORM_BYTES_MAX = 64 * 1024;
/** Ten thousand rows of a table, as a form encodes them. */
const LARGE_FORM_BYTES_MAX = 8 * 1024 * 1024;
/** A larger image than the pages take, so that the form says what its limit is. */
const FILE_FORM_BYTES_MAX = 1024 * 1024;
/** More than a selection of rows has. A million fields would keep the process busy for seconds. */
const FORM_FIELDS_MAX = 5_000;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const FILE_FORM_TYPE = 'multipart/form-data';

interface Taken {
  takesLargeForm?: true;
  takesFile?: true;
}

interface SentForm {
  form: URLSearchParams;
  file: Buffer | null;
}

/** @throws PageRefusal */
export async function readForm(
  request: IncomingMessage,
  { takesLargeForm, takesFile }: Taken,
): Promise<SentForm> {
  const header = request.headers['content-type'] ?? '';
  const type = header.split(';')[0]?.trim().toLowerCase();
  if (takesFile === true && type === FILE_FORM_TYPE) {
    return readParts(header, await readWhole(request, FILE_FORM_BYTES_MAX));
  }
  if (type !== FORM_TYPE) throw new PageRefusal('invalid_form');
  const max = takesLargeForm === true ? LARGE_FORM_BYTES_MAX : FORM_BYTES_MAX;
  const body = await readWhole(request, max);
  if (hasMoreThan(FORM_FIELDS_MAX, body)) throw new PageRefusal('form_too_large');
  return { form: new URLSearchParams(body.toString('utf8')), file: null };
}

/** The platform's own parser reads the parts. */
async function readParts(type: string, body: Buffer): Promise<SentForm> {
  const parts = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw new PageRefusal('form_incomplete');
    });
  const sent: SentForm = { form: new URLSearchParams(), file: null };
  for (const [name, value] of parts) {
    if (typeof value === 'string') sent.form.append(name, value);
    else sent.file = Buffer.from(await value.arrayBuffer());
  }
  return sent;
}

function readWhole(request: IncomingMessage, max: number): Promise<Buffer> {
  return readBytes(request, max).catch((error: unknown) => {
    // A browser that goes away in the midst of a form is not a database that is away.
    if (error instanceof PageRefusal || !request.destroyed) throw error;
    throw new PageRefusal('form_incomplete');
  });
}

function hasMoreThan(max: number, body: Buffer): boolean {
  let at = -1;
  for (let fields = 1; fields <= max; fields++) {
    at = body.indexOf('&', at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** Reads the rest of a form that is too large as well: the next request of the connection comes after it. */
async function readBytes(request: IncomingMessage, max: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= max) chunks.push(chunk);
  }
  if (length > max) throw new PageRefusal('form_too_large');
  return Buffer.concat(chunks);
}
