/** The input schemas of the tools for assistants: only what all hosts accept. */
import { toolsOf } from '../../../clients/mcp/src/tools';

/** Hosts refuse a server's tools, all of them, for one of these keywords. */
const REFUSED = ['not', 'const', 'patternProperties'];

function refusedIn(value: unknown, path: string): string[] {
  if (Array.isArray(value))
    return value.flatMap((one, index) => refusedIn(one, `${path}/${index}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([keyword, given]) => {
    const here = `${path}/${keyword}`;
    // The names of arguments are no keywords.
    const isKeyword = !path.endsWith('/properties');
    const isRefused = REFUSED.includes(keyword) || (keyword === 'type' && Array.isArray(given));
    return [...(isKeyword && isRefused ? [here] : []), ...refusedIn(given, here)];
  });
}

test('no input schema has a list of types, not, const or patternProperties', () => {
  const tools = toolsOf('test');
  expect(tools.length).toBeGreaterThan(20);
  expect(tools.flatMap(({ name, inputSchema }) => refusedIn(inputSchema, name))).toEqual([]);
});

test('what they allow stays: texts of metadata, a memo, and the words of an event to follow', () => {
  const inputs = Object.fromEntries(toolsOf('test').map((tool) => [tool.name, tool.inputSchema]));
  expect(inputs).toMatchObject({
    create_payout: {
      properties: {
        metadata: { additionalProperties: { type: 'string', maxLength: 500 } },
        destination: { properties: { memo: { type: 'string' } } },
      },
    },
    list_events: { properties: { after: { pattern: expect.stringContaining('|latest|oldest') } } },
  });
});
