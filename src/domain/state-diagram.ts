/**
 * Renders transition tables for docs/states.md. A unit test fails if the document does not match the
 * tables.
 */
export type TransitionTable = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

/** A Mermaid state diagram. @param initial the states in which an object can start */
export function mermaidDiagram(table: TransitionTable, initial: readonly string[]): string {
  const edges = Object.entries(table).flatMap(([from, triggers]) =>
    Object.entries(triggers).map(([trigger, to]) => `    ${from} --> ${to ?? ''}: ${trigger}`),
  );
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...initial.map((state) => `    [*] --> ${state}`),
    ...edges,
    ...finalStates(table).map((state) => `    ${state} --> [*]`),
    '```',
  ].join('\n');
}

/** A Markdown table with a row per state and a column per trigger. */
export function markdownTable(table: TransitionTable): string {
  const triggers = [...new Set(Object.values(table).flatMap((edges) => Object.keys(edges)))];
  const final = finalStates(table);
  const row = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(['state', ...triggers.map((trigger) => `\`${trigger}\``)]),
    row(['---', ...triggers.map(() => '---')]),
    ...Object.entries(table).map(([state, edges]) =>
      row([
        final.includes(state) ? `${state} (final)` : state,
        ...triggers.map((trigger) => edges[trigger] ?? ''),
      ]),
    ),
  ].join('\n');
}

function finalStates(table: TransitionTable): string[] {
  return Object.keys(table).filter((state) => Object.keys(table[state] ?? {}).length === 0);
}
