/** What a merchant's server asks of a webhook endpoint. */
import type { EventType } from './events';

export interface EndpointRequest {
  url: string;
  events: (EventType | 'all')[];
  description?: string;
}

export interface EndpointChange extends Partial<EndpointRequest> {
  enabled?: boolean;
}
