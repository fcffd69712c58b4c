/**
 * The search attributes that our workflows set, so that operators can filter by them.
 *
 * The local development server gets them on its command line; an external cluster through
 * `registerSearchAttributes`. They are stored in clear and updated with a delay: no personal
 * data, and nothing that must be unique or up to date.
 */
import { isGrpcServiceError, type Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';

/** Numbers of the wire protocol (temporal.api.enums.v1.IndexedValueType). */
const WIRE_TYPE = { Keyword: 2, Bool: 5 } as const;

const GRPC_ALREADY_EXISTS = 6;

export const SEARCH_ATTRIBUTES = {
  PayoutStatus: 'Keyword',
  PaymentStatus: 'Keyword',
  Mode: 'Keyword',
  Currency: 'Keyword',
  AccountId: 'Keyword',
  EndpointId: 'Keyword',
  NeedsAttention: 'Bool',
} as const satisfies Record<string, keyof typeof WIRE_TYPE>;

/** A workflow is started with these attributes, and sets its status itself. */
export const MODE = defineSearchAttributeKey('Mode', 'KEYWORD');
export const CURRENCY = defineSearchAttributeKey('Currency', 'KEYWORD');
export const ACCOUNT_ID = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const PAYOUT_STATUS = defineSearchAttributeKey('PayoutStatus', 'KEYWORD');
export const PAYMENT_STATUS = defineSearchAttributeKey('PaymentStatus', 'KEYWORD');
export const ENDPOINT_ID = defineSearchAttributeKey('EndpointId', 'KEYWORD');

/** Adds the missing attributes to the namespace; running it again changes nothing. */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, WIRE_TYPE[type]])),
    });
  } catch (error) {
    // Another process has added it since they were listed.
    if (!isGrpcServiceError(error) || (error.code as number) !== GRPC_ALREADY_EXISTS) throw error;
  }
}
