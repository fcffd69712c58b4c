/**
 * Combines what several nodes say to the same signed transactions: one node that accepts a transaction
 * is enough, and one that hangs delays nobody.
 */

/** How long the other nodes may take once one has answered. */
const GRACE_MS = 1_000;

/**
 * @param requests the answers of each node; a node that does not answer rejects
 * @returns for each call an answer that accepts it, or else the first node's refusal; null when no node
 * answered
 */
export async function combineAnswers<Answer>(
  requests: readonly Promise<Answer[]>[],
  isAccepted: (answer: Answer) => boolean,
): Promise<Answer[] | null> {
  const byNode: (Answer[] | null)[] = requests.map(() => null);
  await new Promise<void>((resolve) => {
    let open = requests.length;
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(grace);
      resolve();
    };
    if (open === 0) end();
    for (const [index, request] of requests.entries()) {
      const settle = (answers: Answer[] | null): void => {
        byNode[index] = answers;
        open -= 1;
        if (open === 0 || answers?.every(isAccepted) === true) end();
        else if (answers !== null) grace ??= setTimeout(end, GRACE_MS);
      };
      request.then(settle, () => {
        settle(null);
      });
    }
  });
  const answered = byNode.filter((answers) => answers !== null);
  const [first] = answered;
  if (first === undefined) return null;
  return first.map((answer, call) => {
    const accepting = answered
      .map((answers) => answers[call])
      .find((one) => one && isAccepted(one));
    return accepting ?? answer;
  });
}
