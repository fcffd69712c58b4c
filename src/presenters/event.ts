/** The webhook envelope (the specification, "Webhook event envelope"; `sequence`: decision H7). */
import type { Mode } from '../domain/mode';

export interface EventHead {
  id: string;
  type: string;
  mode: Mode;
  sequence: number;
  createdAt: Date;
}

/** The exact bytes of the body, fixed once and for all attempts (decision H1). */
export function presentEvent(event: EventHead, data: object): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: event.id,
      type: event.type,
      mode: event.mode,
      created_at: event.createdAt.toISOString(),
      sequence: event.sequence,
      data,
    }),
  );
}
