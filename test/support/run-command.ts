/** The end of a command of the tests: what it started and does not need any more keeps no process. */
export function runCommand(main: () => Promise<void>): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
