/** The calls that return one object. */
import { InvalidStateError } from './errors';
import type { CallOptions, Send } from './request';

export interface One<Data> {
  data: Data;
}

export function getOne<Found>(send: Send, path: string, id: string, options?: CallOptions) {
  return one(send<One<Found>>({ method: 'GET', path: at(path, id), ...options }));
}

export function at(path: string, id: string): string {
  // An empty id would be the list.
  if (typeof id !== 'string' || id === '') throw new TypeError('id must be the ID of an object.');
  return `${path}/${encodeURIComponent(id)}`;
}

export async function one<Data>(answer: Promise<One<Data>>): Promise<Data> {
  return (await answer).data;
}

export async function cancel<Cancelled>(
  send: Send,
  path: string,
  id: string,
  options?: CallOptions,
): Promise<Cancelled> {
  const failures: unknown[] = [];
  const call = { method: 'POST', path: `${at(path, id)}/cancel`, ...options } as const;
  try {
    return await one(send<One<Cancelled>>(call, (failure) => failures.push(failure)));
  } catch (error) {
    // An earlier attempt cancelled it, and its answer was lost.
    const done = error instanceof InvalidStateError && error.details.status === 'cancelled';
    if (failures.length > 0 && done) return getOne<Cancelled>(send, path, id, options);
    throw error;
  }
}
