/** The calls that return one object. */
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
