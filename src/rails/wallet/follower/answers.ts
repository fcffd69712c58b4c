/** Answers of nodes about blocks that they may not have. */
import type { RpcAnswer } from '../chain/rpc';

/** The nodes disagree, or one of them does not know the block yet. Asked again soon. */
export class InconsistentNode extends Error {}

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** The node does not have the method, or not with these parameters. */
export function isMissingMethod(answer: RpcAnswer | undefined): boolean {
  if (answer === undefined || !('refusal' in answer)) return false;
  return [METHOD_NOT_FOUND, INVALID_PARAMS].includes(answer.refusal.code);
}

/** A null is a block that this node does not have yet, or no longer. */
export function resultOf<T>(answer: RpcAnswer<T | null> | undefined): T {
  if (answer === undefined) throw new InconsistentNode('an answer is missing');
  if ('refusal' in answer) {
    if (/unknown block|not found/i.test(answer.refusal.detail)) {
      throw new InconsistentNode('the node does not have the block');
    }
    throw answer.refusal;
  }
  if (answer.result === null) throw new InconsistentNode('the node does not have the block');
  return answer.result;
}
