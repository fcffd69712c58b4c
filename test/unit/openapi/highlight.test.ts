/** The colours of the guides' samples. */
import { highlight } from '../../../src/openapi/highlight';

test.each([
  [
    'json',
    '{ "a<b": "c\\"d", "n": -1.5, "x": null }',
    ['name:"a<b"', 'string:"c\\"d"', 'name:"n"', 'value:-1.5', 'name:"x"', 'value:null'],
  ],
  [
    'sh',
    `curl $API/x -d '{"a": 1}' # not "this"`,
    ['word:curl', 'value:$API', 'name:-d', `string:'{"a": 1}'`, 'comment:# not "this"'],
  ],
  ['sh', 'echo "/docs#part"', ['word:echo', 'string:"/docs#part"']],
  ['js', `const url = 'http://x'; // it's`, ['word:const', `string:'http://x'`, `comment:// it's`]],
  ['python', '"""One\n\'two\'""" # three', ['string:"""One\n\'two\'"""', 'comment:# three']],
  ['console', '$ payments-gateway login\nkey:', ['word:$ ']],
  ['text', 'for <b> & "c"', []],
])('%s: %s', (language, text, expected) => {
  const html = highlight(text, language);
  const spans = [...html.matchAll(/<span class="(\w+)">([\s\S]*?)<\/span>/g)];
  expect(spans.map(([, name, inner = '']) => `${name}:${plain(inner)}`)).toEqual(expected);
  expect(plain(html)).toBe(text);
});

function plain(html: string): string {
  const text = html.replaceAll(/<\/?span[^>]*>/g, '');
  expect(text).not.toMatch(/[<>"]/);
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
