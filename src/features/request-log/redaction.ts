/**
 * Takes secrets, and who receives the money of a payout, out of what the request log stores. Merchants send them by mistake: a key in a query, a
 * password as metadata. A secret is known by its form or by the name of its field, after escapes are
 * decoded, so that no spelling of it is stored.
 */
const MARK = '[redacted]';

/** Incoming webhooks of chats: whoever has the address writes to the chat. */
const CHATS = String.raw`hooks\.slack(?:-gov)?\.com|discord(?:app)?\.com\/api|api\.telegram\.org|chat\.googleapis\.com|webhook\.office\.com|logic\.azure\.com(?::443)?|open\.(?:feishu\.cn|larksuite\.com)`;

/**
 * What is secret by its form; the first group is kept. No part of a text is looked at again for another
 * start, so that the time grows with the length of the text alone.
 */
const SECRET_FORMS: readonly RegExp[] = [
  // The keys and the webhook secrets that the gateway issues, also in the midst of a word.
  /(sk_(?:test|live)_|whsec_)[\w+/=-]{4,}/g,
  /(\bBearer\s+)(?!sk_|whsec_)[\w+/=.~-]{16,}/gi,
  /(?<![\w-])()eyJ[\w-]+\.[\w-]+\.[\w-]*(?:\.[\w-]*)*/g,
  /()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[^]*?(?:-----END[A-Z0-9 ]{0,60}(?:-----)?|$)/g,
  // The user and the password of a URL.
  /(:\/\/)[^\s/?#"'<>\\]+(?=@)/g,
  new RegExp(String.raw`(\b(?:${CHATS})\/)[^\s"'<>\\]+`, 'gi'),
];

/** Base64 of a name, a colon and a password. */
const BASIC = /(\bBasic\s+)([\w+/-]{4,}={0,2})/gi;

const NAMES =
  'pass[_-]?w(?:or)?d|passphrase|pwd|secret|token|(?:private|api|access)[\\s_-]?key|authorization|credential|cookie|mnemonic|seed|beneficiar(?:y|ies)';
const SECRET_NAME = new RegExp(NAMES, 'i');

/**
 * What a text has at least one of if it is changed at all: the beginning of a form above, such a name, or an
 * escape that could hide either. Nearly every text has none, and reading it once costs a tenth of looking for
 * each form in each of its parts.
 */
const SIGN = new RegExp(
  String.raw`[%\\@]|sk_(?:test|live)_|whsec_|Bearer|Basic|eyJ|-----BEGIN|${CHATS}|${NAMES}`,
  'i',
);

/**
 * A word with such a name. The look-behind lets the expression begin at no other place of the word, and the
 * look-ahead lets it take the word only as a whole.
 */
const NAME = String.raw`(?<![\w.-])(?=([\w.-]*(?:${NAMES})[\w.-]*))\1`;
const VALUE = String.raw`('[^']*'?|[^\s'&;,]+)`;
/** A value after its name in text that is not JSON: `password=x`, `'token': 17`, `secret => y`, `<pwd>z`. */
const NAMED_VALUE = new RegExp(String.raw`${NAME}('?\s*[:=>]+\s*)${VALUE}`, 'gi');
/** Such a name whose value follows in quotes or brackets. */
const NAME_AT_END = new RegExp(String.raw`${NAME}'?\s*[:=>]+\s*$`, 'i');
/** The same in a sentence, where a colon follows other words too: `token=x`, `token:x`, `token: 17`. */
const NAMED_IN_TEXT = new RegExp(
  String.raw`${NAME}('?(?:=\s*|:(?=\S)|:\s+(?=[^\s\d]*\d)))${VALUE}`,
  'gi',
);
/** A value after its name in the query of a URL. */
const NAMED_PARAMETER = new RegExp(
  String.raw`([?&#](?=([^=&#?\s]*(?:${NAMES})[^=&#?\s]*))\2=)[^&#\s]+`,
  'gi',
);

/** Text without what PostgreSQL cannot store. */
function storable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replaceAll('\0', '');
}

/** Text without secrets of a known form, and without what PostgreSQL cannot store. */
export function redactText(text: string): string {
  return SECRET_FORMS.reduce(
    (kept, form) => kept.replace(form, `$1${MARK}`),
    storable(text),
  ).replace(BASIC, (found, scheme: string, coded: string) =>
    Buffer.from(coded, 'base64').includes(':') ? `${scheme}${MARK}` : found,
  );
}

/** The shortest text with a secret is `pwd=x`. Thousands of shorter ones in a body cost nothing. */
const SECRET_LENGTH_MIN = 5;

/** Percent-encoded text: as it was sent, or decoded if that shows a secret. */
export function redactEncoded(text: string): string {
  const kept = storable(text);
  if (text.length < SECRET_LENGTH_MIN || !SIGN.test(kept)) return kept;
  const decoded = storable(decodePercents(text));
  const redacted = redactBody(decoded);
  return redacted === decoded ? redactText(text) : redacted;
}

export function redactQuery(query: string): string {
  const kept = storable(query);
  if (!SIGN.test(kept)) return kept;
  return query
    .split('&')
    .map((parameter) => {
      const [name = ''] = parameter.split('=');
      return parameter !== name && SECRET_NAME.test(decodePercents(name))
        ? `${redactEncoded(name)}=${MARK}`
        : redactEncoded(parameter);
    })
    .join('&');
}

const DECODED_TIMES_MAX = 3;

/** Decodes what was encoded more than once too. What is no valid encoding stays. */
function decodePercents(text: string): string {
  let decoded = text;
  for (let times = 0; times < DECODED_TIMES_MAX; times++) {
    decoded = decoded.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
      Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
    );
  }
  return decoded;
}

/** A JSON string, whose end may be cut off; a bracket; a comma; or everything up to the next of these. */
const TOKEN = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[[\]{},]|[^"[\]{},]+/g;

/** A JSON body, also one that is cut off or malformed. */
export function redactBody(text: string): string {
  const kept = storable(text);
  if (!SIGN.test(kept)) return kept;
  const walk = new BodyWalk();
  for (const [token] of text.matchAll(TOKEN)) walk.take(token);
  return redactText(walk.written);
}

class BodyWalk {
  written = '';
  /** The string before, which is a name if a colon follows. */
  #name: string | null = null;
  /** The value of a secret name comes next. */
  #hidesNext = false;
  /** The open brackets of a hidden value. */
  #hiddenDepth = 0;

  take(token: string): void {
    if (this.#hiddenDepth > 0) this.#skip(token);
    else if (token.startsWith('"')) this.#takeString(token);
    else if (token === '[' || token === '{') this.#takeOpening(token);
    else if (token === ']' || token === '}' || token === ',') this.#takeSeparator(token);
    else this.#takeRest(token);
  }

  #skip(token: string): void {
    if (token === '[' || token === '{') this.#hiddenDepth++;
    if (token === ']' || token === '}') this.#hiddenDepth--;
  }

  #takeString(token: string): void {
    const isClosed = token.length > 1 && token.endsWith('"');
    const decoded = decodeString(token, isClosed);
    if (this.#hidesNext) {
      this.written += `"${MARK}${isClosed ? '"' : ''}`;
      this.#name = null;
    } else {
      const kept = storable(decoded);
      const redacted = redactString(kept);
      const rewritten = JSON.stringify(redacted).slice(0, isClosed ? undefined : -1);
      this.written += redacted === kept ? token : rewritten;
      this.#name = decoded;
    }
    this.#hidesNext = false;
  }

  #takeOpening(token: string): void {
    this.written += this.#hidesNext ? `"${MARK}"` : token;
    if (this.#hidesNext) this.#hiddenDepth = 1;
    this.#hidesNext = false;
    this.#name = null;
  }

  #takeSeparator(token: string): void {
    this.written += token;
    this.#hidesNext = false;
    this.#name = null;
  }

  /** A colon, a number, a word, white space, or what is no JSON. */
  #takeRest(token: string): void {
    if (this.#name !== null && SECRET_NAME.test(this.#name)) {
      const [separator = ''] = /^[\s:=>]*/.exec(token) ?? [];
      this.#hidesNext = /^\s*$|[:=>]\s*$/.test(token);
      this.written += separator === token ? separator : `${separator}"${MARK}"`;
    } else {
      const decoded = decodePercents(token);
      const redacted = redactText(decoded.replace(NAMED_VALUE, `$1$2${MARK}`));
      const isHidden = redacted !== decoded;
      this.written += isHidden ? redacted : token;
      this.#hidesNext = NAME_AT_END.test(isHidden ? decoded : token);
    }
    this.#name = null;
  }
}

/** A string of a body, which may be JSON or a URL itself. */
function redactString(text: string): string {
  if (text.length < SECRET_LENGTH_MIN) return text;
  if (/^\s*[[{]/.test(text)) return redactBody(text);
  const decoded = storable(decodePercents(text));
  const redacted = redactText(decoded)
    .replace(NAMED_PARAMETER, `$1${MARK}`)
    .replace(NAMED_IN_TEXT, `$1$2${MARK}`);
  if (redacted !== decoded) return redacted;
  return redactText(text);
}

/** Decodes what it can of a string that is cut off or has an unknown escape. */
function decodeString(token: string, isClosed: boolean): string {
  try {
    return JSON.parse(isClosed ? token : `${token}"`) as string;
  } catch {
    return token
      .replaceAll(/\\u[0-9a-f]{4}/gi, (escape) => JSON.parse(`"${escape}"`) as string)
      .replaceAll(/["\\]/g, '');
  }
}
