/**
 * The end of a command of the tests: what it started and does not need any more keeps no process.
 * @param shown what is printed of an error
 */
export function runMain(
  main: () => Promise<void>,
  shown: (error: unknown) => unknown = (error) => error,
): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      console.error(shown(error));
      process.exit(1);
    },
  );
}
