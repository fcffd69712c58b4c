/** What the model of a payment is told of its provider. Sums are whole cents. */
export interface ModelFacts {
  state: 'open' | 'started' | 'cancelled' | 'failed';
  onHold: boolean;
  transfers: { id: string; cents: number; status: 'seen' | 'confirmed' | 'dropped'; at: number }[];
  refunds: { id: string; reference: string; cents: number }[];
}

/** What the provider answered to the decision that it was told of. */
export type Answer = 'found' | 'refused' | 'unknown';

export function sum(list: readonly { cents: number }[]): number {
  return list.reduce((total, { cents }) => total + cents, 0);
}
