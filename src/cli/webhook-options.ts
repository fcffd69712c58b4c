/** Options that the verbs of endpoints and of deliveries share. */
import type { Options } from './options';

export const THE_ENDPOINT = { id: { value: 'ENDPOINT_ID', help: 'the endpoint' } };

export const readEndpointId = (options: Options): string =>
  options.required('id', '`webhooks list` shows the ids, we_…');
