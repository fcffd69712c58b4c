/** One guard: a piece of source text that keeps something from happening, and the test that notices its removal. */
export interface Guard {
  /** For `--only`. */
  name: string;
  /** What is true while the guard is there. */
  protects: string;
  file: string;
  /** The guard's text, which occurs once in the file. */
  find: string;
  /** What takes its place: a program that runs, without the guard. */
  replace: string;
  /** A second line of defence in the same file that is removed with it. */
  also?: { find: string; replace: string };
  /** The file of the test: `test/<jest project>/…`. */
  test: string;
  /** A part of the test's title; without it, the whole file runs. */
  title?: string;
}

/** The jest project of a guard's test. */
export function projectOf({ test }: Pick<Guard, 'test'>): string {
  return test.split('/')[1] ?? '';
}

/** The source without the guard. @throws Error when the text is not there exactly once */
export function withoutGuard(source: string, { name, file, find, replace, also }: Guard): string {
  return [{ find, replace }, ...(also === undefined ? [] : [also])].reduce((text, change) => {
    const parts = text.split(change.find);
    if (parts.length !== 2) {
      throw new Error(
        `The guard ${name} is in ${file} ${parts.length - 1} times instead of once. ` +
          `Correct its entry in test/guards/table: ${change.find}`,
      );
    }
    return parts.join(change.replace);
  }, source);
}
