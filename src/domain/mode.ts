/** Every key, object, balance and provider account belongs to one of the two modes. */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** Whose an object is. */
export interface Owner {
  accountId: string;
  mode: Mode;
}
