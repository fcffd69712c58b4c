/** The connection to Temporal. It connects when it is first used, so the API starts without it. */
import { Client, Connection } from '@temporalio/client';

export interface TemporalOptions {
  address: string;
  namespace: string;
}

export function createTemporalClient({ address, namespace }: TemporalOptions): Client {
  return new Client({ connection: Connection.lazy({ address }), namespace });
}
