/** Pieces of the Markdown that an operator reads on a workflow's page. */

export function list(heading: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [heading, items.map((item) => `- ${item}`).join('\n')];
}

/** A line to type. */
export function code(line: string): string {
  return ['```sh', line, '```'].join('\n');
}

export function signalLine(id: string, name: string, input?: object): string {
  const line = `temporal workflow signal -w ${id} --name ${name}`;
  return input === undefined ? line : `${line} --input '${JSON.stringify(input)}'`;
}
