/**
 * Passwords that are guessed first: a well-known word with digits and signs around it, one character or a
 * row of the keyboard over and over. Length alone does not tell them from good ones.
 */
const WORDS = `password passwort qwerty qwertz azerty letmein welcome willkommen admin administrator
  iloveyou monkey dragon football baseball sunshine princess superman batman trustno abc secret geheim
  changeme default login master shadow summer winter spring autumn company bitcoin crypto test user
  root hello hallo`.split(/\s+/);

/** The characters with which people replace letters. */
const LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

const ROWS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const ROW_PART = 4;

export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase();
  if (new Set(text).size <= 3) return true;
  const left = withoutRows(withoutWords(text));
  return !/\p{L}/u.test(left);
}

/** Also where a digit stands for a letter. */
function withoutWords(text: string): string {
  let rest = text;
  let plain = text.replace(/./gu, (char) => LETTERS[char] ?? char);
  for (const word of WORDS) {
    for (let at = plain.indexOf(word); at !== -1; at = plain.indexOf(word)) {
      rest = rest.slice(0, at) + rest.slice(at + word.length);
      plain = plain.slice(0, at) + plain.slice(at + word.length);
    }
  }
  return rest;
}

/** Parts of a row of the keyboard, forwards and backwards. */
function withoutRows(text: string): string {
  let rest = text;
  for (const row of ROWS.flatMap((one) => [one, Array.from(one).reverse().join('')])) {
    for (let length = row.length; length >= ROW_PART; length -= 1) {
      for (let start = 0; start + length <= row.length; start += 1) {
        rest = rest.replaceAll(row.slice(start, start + length), '');
      }
    }
  }
  return rest;
}
