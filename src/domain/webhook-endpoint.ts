/** The body of a request that creates or changes a webhook endpoint, after validation. */
import type { EventType } from './events';

/**
 * The headers with signatures: the gateway's, or also those of Standard Webhooks
 * (decisions/webhooks#webhook-secrets).
 */
export const SIGNATURES = ['gateway', 'standard_webhooks'] as const;
export type Signature = (typeof SIGNATURES)[number];

/** A request that creates an endpoint. */
export interface EndpointRequest {
  url: string;
  events: (EventType | 'all')[];
  description?: string;
  signature?: Signature;
}

/** A request that changes an endpoint; a field that is left out stays. */
export interface EndpointChange extends Partial<EndpointRequest> {
  enabled?: boolean;
}
