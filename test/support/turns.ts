/** One after the other, in the order of the calls. */
export function createTurns(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const acting = last.then(act);
    last = acting.catch(() => undefined);
    return acting;
  };
}
