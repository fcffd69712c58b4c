/** Answers of a later gateway: objects with members that today's clients do not know (decisions/api#versioning). */
import { OPERATIONS } from '../../src/openapi/document';

export const example = (id: string): object =>
  OPERATIONS.find((one) => one.id === id)!.success.example;

/** Their members are named by the merchant. */
const MAPS = ['metadata', 'payout_limits'];

/** The answer with a new member in each of its objects. */
export function later(answer: object): object {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !MAPS.includes(name)
      ? { ...value, added_later: { any: [1, 'text', null] } }
      : value,
  ) as object;
}
