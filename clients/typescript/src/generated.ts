/** The API's types. Written by `npm run openapi` from the schemas: do not edit. */

/** A payment request */
export interface PaymentRequest {
  /** A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50" */
  amount: string;
  /** A currency code in capital letters, such as "USDT" */
  currency: string;
  /** Your unique ID: 1 to 64 printable ASCII characters without spaces */
  reference: string;
  /** Text of at most 255 characters without control characters */
  description?: string | undefined;
  /** An email address of at most 254 characters */
  customer_email?: string | undefined;
  /** An absolute URL of at most 2048 characters */
  success_url?: string | undefined;
  /** An absolute URL of at most 2048 characters */
  cancel_url?: string | undefined;
  /** One of onchain_provider, exchange_pay */
  provider?: 'onchain_provider' | 'exchange_pay' | undefined;
  /** The name of a network, such as "tron" */
  network?: string | undefined;
  /** An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500 */
  metadata?: Record<string, string> | undefined;
  /** A whole number of seconds from 300 (5 in test mode) to 86400 */
  expires_in?: number | undefined;
}

/** A payment */
export interface Payment {
  /** ID with the prefix pay_ */
  id: string;
  object: 'payment';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The status: created, pending, processing, on_hold, completed, underpaid, failed, expired, cancelled, refunded, or a value that was added later */
  status:
    | 'created'
    | 'pending'
    | 'processing'
    | 'on_hold'
    | 'completed'
    | 'underpaid'
    | 'failed'
    | 'expired'
    | 'cancelled'
    | 'refunded';
  /** Provider code: onchain_provider, exchange_pay, or a value that was added later */
  provider: 'onchain_provider' | 'exchange_pay';
  /** Null for a transfer within the provider */
  network: string | null;
  /** Your unique ID */
  reference: string;
  /** The requested amount */
  amount: string;
  /** Currency code */
  currency: string;
  /** The amount that is confirmed */
  received_amount: string;
  /** The amount that was seen and is not confirmed yet. It can still disappear: do not deliver for it */
  unconfirmed_amount: string;
  /** The amount that the customer still has to send: what is unconfirmed is already subtracted */
  amount_due: string;
  /** The confirmed amount beyond the requested amount */
  overpaid_amount: string;
  /** The amount refunded to the customer */
  refunded_amount: string;
  /** Our fee on the amount received and not refunded */
  service_fee: string;
  /** Null until the payment is credited */
  net_amount: string | null;
  exceptions: ('overpaid' | 'late' | 'manual')[];
  /** The hash of the last transfer, if the provider supplies one */
  tx_hash: string | null;
  /** The checkout page. Send your customer to this URL */
  checkout_url: string;
  /** Where the customer returns; the redirect is not proof of payment */
  success_url: string | null;
  /** Where the customer returns after cancelling */
  cancel_url: string | null;
  /** Your description */
  description: string | null;
  /** The email address of the customer */
  customer_email: string | null;
  /** Set when the status is failed, or when an operator rejected the payment */
  failure_reason: string | null;
  /** The metadata of the request */
  metadata: Record<string, string>;
  /** The time of creation */
  created_at: string;
  /** The time when the checkout expires */
  expires_at: string;
  /** Null until completion */
  completed_at: string | null;
}

/** A refund request */
export interface RefundRequest {
  /** A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50" */
  amount?: string | undefined;
  /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
  reference: string;
  /** Text of at most 255 characters without control characters */
  reason?: string | undefined;
  /** An object with type, value and optionally memo */
  destination?:
    | {
        /** One of crypto_address, exchange_id, email */
        type: 'crypto_address' | 'exchange_id' | 'email';
        /** The address, account ID or email address of the recipient */
        value: string;
        /** Text of at most 64 characters without NUL, or null if the destination has none */
        memo?: string | null | undefined;
      }
    | undefined;
}

/** A refund of a payment */
export interface Refund {
  /** ID with the prefix rf_ */
  id: string;
  object: 'refund';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The status: pending, completed, failed, or a value that was added later */
  status: 'pending' | 'completed' | 'failed';
  /** ID with the prefix pay_ */
  payment_id: string;
  /** Null if you did not ask for it */
  reference: string | null;
  /** Who asked for it: you, the operator of the gateway, or the provider by itself: merchant, operator, provider, or a value that was added later */
  requested_by: 'merchant' | 'operator' | 'provider';
  /** What the customer gets back */
  amount: string;
  /** Currency code */
  currency: string;
  /** What your balance pays: the amount less fee_returned. Zero after a failure, because it was returned */
  balance_debit: string;
  /** The part of our fee that we return */
  fee_returned: string;
  /** Whether it was made by a person on the dashboard, and waits for the approval of another one */
  awaits_second_person: boolean;
  /** The customer has not named an address yet. The money is taken from your balance, and you can cancel the refund */
  awaits_address: boolean;
  /** Null if the provider sends the money to who paid */
  address_until: string | null;
  /** The payout that sends the money. Null before the customer has named an address, and if the provider sends it */
  payout_id: string | null;
  /** Null if the provider decides where the money goes */
  destination: {
    /** The type of destination: crypto_address, exchange_id, email, or a value that was added later */
    type: 'crypto_address' | 'exchange_id' | 'email';
    /** The address */
    value: string;
    /** The memo or destination tag */
    memo: string | null;
  } | null;
  /** Your reason */
  reason: string | null;
  /** Set when the status is failed */
  failure_reason: string | null;
  /** The time of creation */
  created_at: string;
  /** Null until completion */
  completed_at: string | null;
}

/** A payout request */
export interface PayoutRequest {
  /** A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50" */
  amount: string;
  /** A currency code in capital letters, such as "USDT" */
  currency: string;
  /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
  reference: string;
  /** An object with type, value and optionally memo */
  destination?:
    | {
        /** One of crypto_address, exchange_id, email */
        type: 'crypto_address' | 'exchange_id' | 'email';
        /** The address, account ID or email address of the recipient */
        value: string;
        /** Text of at most 64 characters without NUL, or null if the destination has none */
        memo?: string | null | undefined;
      }
    | undefined;
  /** The ID of a recipient, in place of destination */
  recipient?: string | undefined;
  /** The name of a network, such as "tron" */
  network?: string | undefined;
  /** One of onchain_provider, exchange_pay */
  provider?: 'onchain_provider' | 'exchange_pay' | undefined;
  /** Text of at most 255 characters without control characters */
  description?: string | undefined;
  /** An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500 */
  metadata?: Record<string, string> | undefined;
  /** An object with name, kind and optionally institution */
  beneficiary?:
    | {
        /** The full name of the person or business that receives the money, in one line of at most 100 characters */
        name: string;
        /** One of individual, business */
        kind: 'individual' | 'business';
        /** The exchange or other institution that holds the destination, in one line of at most 100 characters */
        institution?: string | undefined;
      }
    | undefined;
  /** An object with at, after_payment, approval_by_key or recipient_ready, and optionally expires_at */
  release?:
    | {
        /** A time within a year, in ISO 8601 with a zone */
        at?: string | undefined;
        /** The ID of your payment that has to be completed */
        after_payment?: string | undefined;
        /** The ID of another API key of your account, which has to release the payout */
        approval_by_key?: string | undefined;
        /** true; the payout waits until its recipient may be paid */
        recipient_ready?: true | undefined;
        /** A time within a year, after release.at, in ISO 8601 with a zone */
        expires_at?: string | undefined;
      }
    | undefined;
}

/** A payout */
export interface Payout {
  /** ID with the prefix po_ */
  id: string;
  object: 'payout';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The status: requested, under_review, approved, processing, completed, rejected, failed, cancelled, or a value that was added later */
  status:
    | 'requested'
    | 'under_review'
    | 'approved'
    | 'processing'
    | 'completed'
    | 'rejected'
    | 'failed'
    | 'cancelled';
  /** Provider code: onchain_provider, exchange_pay, or a value that was added later */
  provider: 'onchain_provider' | 'exchange_pay';
  /** Your unique ID */
  reference: string;
  /** The amount that the recipient receives */
  amount: string;
  /** Currency code */
  currency: string;
  /** Null for a transfer within the provider */
  network: string | null;
  /** The recipient */
  destination: {
    /** The type of value: crypto_address, exchange_id, email, or a value that was added later */
    type: 'crypto_address' | 'exchange_id' | 'email';
    /** The address, account ID or email address */
    value: string;
    /** The memo or destination tag */
    memo: string | null;
  };
  /** The recipient; absent if the request named none */
  recipient?: string | undefined;
  /** Our fee, on top of the amount */
  service_fee: string;
  /** The fee estimated by the provider; zero if it publishes none */
  network_fee: string;
  /** amount + service_fee + network_fee */
  total_debit: string;
  /** Set on completion if the provider supplies one */
  tx_hash: string | null;
  /** Set when the status is failed */
  failure_reason: string | null;
  /** Set when the status is rejected */
  rejection_reason: string | null;
  /** Your description */
  description: string | null;
  /** The metadata of the request */
  metadata: Record<string, string>;
  /** What the payout waits for before it is sent; absent if it has no conditions */
  release?:
    | {
        /** All of them have to be met */
        conditions: (
          | {
              type: 'time';
              /** The time */
              at: string;
              /** Null: not yet */
              met_at: string | null;
            }
          | {
              type: 'payment';
              /** ID with the prefix pay_ */
              payment: string;
              /** Null: not yet */
              met_at: string | null;
            }
          | {
              type: 'approval';
              /** ID with the prefix key_ */
              api_key: string;
              /** Null: not yet */
              met_at: string | null;
            }
          | {
              type: 'recipient';
              /** ID with the prefix rcp_ */
              recipient: string;
              /** The recipient cannot be ready before */
              at: string;
              /** Null: not yet */
              met_at: string | null;
            }
          | {
              type: 'second_person';
              /** Null: not yet */
              met_at: string | null;
            }
        )[];
        /** The payout is cancelled if it was not released by then */
        expires_at: string | null;
        /** Set when it was released */
        released_at: string | null;
        /** Set when it was not in time */
        expired_at: string | null;
      }
    | undefined;
  /** Null after it was erased. Only where one payout is retrieved with a key that has payouts:write; absent if the payout has none, in lists and in events */
  beneficiary?:
    | {
        /** The name */
        name: string;
        /** A person or a business: individual, business, or a value that was added later */
        kind: 'individual' | 'business';
        /** Null if the request named none */
        institution: string | null;
      }
    | null
    | undefined;
  /** The time of creation */
  created_at: string;
  /** The time of the last status change */
  updated_at: string;
}

/** The signed record of a payout */
export interface PayoutDossier {
  /** ID with the prefix po_ */
  id: string;
  object: 'payout_dossier';
  /** When the dossier was made */
  created_at: string;
  payout: Payout;
  /** The request */
  request: {
    /** The hash by which the request is known again; of the whole batch for a row of one. Null for payouts before version 1 */
    sha256: string | null;
    /** The API key, or the person on the dashboard */
    requested_by: string;
    /** The batch that the payout is a row of */
    batch: string | null;
    /** The rows that were approved together */
    batch_manifest_sha256: string | null;
  };
  /** What was asked and decided before the payout was sent */
  review: {
    /** The rules that asked for a review; empty if none did */
    reasons: string[];
    /** The fee rule that was applied, as JSON */
    fee_terms: string;
    operators: {
      /** The same for the decisions of one operator, such as "operator 1". "operator, claimed via signal": the decision came as a signal to the workflow, whose sender may claim any name */
      operator: string;
      /** approve or reject */
      decision: string;
      /** What became of the decision; null: it is not applied yet */
      outcome: string | null;
      /** When it was applied */
      decided_at: string | null;
    }[];
    people: {
      /** A person of your account */
      email: string;
      /** When */
      approved_at: string;
    }[];
    api_keys: {
      /** The key */
      api_key: string;
      /** When */
      approved_at: string;
    }[];
  };
  screening: {
    /** service or list */
    source: string;
    /** clear */
    verdict: string;
    /** When */
    answered_at: string;
  }[];
  /** What was sent to the provider */
  submission: {
    /** Before the order left for the provider; null: it did not */
    started_at: string | null;
    /** When the provider had accepted it */
    accepted_at: string | null;
    /** The provider */
    provider: string;
    /** The provider’s own ID */
    provider_reference: string | null;
    /** The transaction */
    tx_hash: string | null;
  };
  postings: Transaction[];
  events: {
    /** ID with the prefix evt_ */
    id: string;
    /** The type of event */
    type: string;
    /** Its number of the payout */
    sequence: number;
    /** When */
    created_at: string;
    /** Of the body that was sent; null once the body is deleted */
    body_sha256: string | null;
    deliveries: {
      /** The delivery */
      id: string;
      /** The endpoint */
      webhook_endpoint: string;
      /** The status of the delivery */
      status: string;
      /** When it ended */
      finished_at: string | null;
      attempts: {
        /** Counts from 1 */
        number: number;
        /** When */
        started_at: string;
        /** succeeded or failed */
        outcome: string | null;
        /** What your endpoint answered */
        http_status: number | null;
      }[];
    }[];
  }[];
  audit: {
    /** The entry */
    id: string;
    /** When */
    at: string;
    /** Such as payout.approve */
    action: string;
    /** Its place in the chain; null: it has none yet */
    sequence: number | null;
    /** The hash before it in the chain */
    previous_hash: string | null;
    /** SHA-256 of the bytes of the previous hash and the text of sealed */
    hash: string | null;
    /** The text that the chain contains */
    sealed: string | null;
    /** Of your own entries */
    salt: string | null;
    /** Of your own entries: SHA-256 of the bytes of the salt and this text is personal_sha256 in sealed */
    personal: string | null;
  }[];
  /** Null: the gateway has no signing key */
  signature: {
    algorithm: 'Ed25519';
    /** The key, as GET /api/v1/signing_keys lists it */
    key_id: string;
    /** SHA-256 of each field */
    digests: Record<string, string>;
    /** The signature in base64 */
    value: string;
  } | null;
}

/** A recipient */
export interface RecipientRequest {
  /** One line of at most 100 characters */
  name: string;
  /** A currency code in capital letters, such as "USDT" */
  currency: string;
  /** The name of a network, such as "tron" */
  network?: string | undefined;
  /** An object with type, value and optionally memo */
  destination: {
    /** One of crypto_address, exchange_id, email */
    type: 'crypto_address' | 'exchange_id' | 'email';
    /** The address, account ID or email address of the recipient */
    value: string;
    /** Text of at most 64 characters without NUL, or null if the destination has none */
    memo?: string | null | undefined;
  };
  /** At most 20 tags of 1 to 40 letters, digits, "_", "." or "-" */
  tags?: string[] | undefined;
}

/** The fields of a recipient that change */
export interface RecipientChange {
  /** One line of at most 100 characters */
  name?: string | undefined;
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** The name of a network, such as "tron" */
  network?: string | undefined;
  /** An object with type, value and optionally memo */
  destination?:
    | {
        /** One of crypto_address, exchange_id, email */
        type: 'crypto_address' | 'exchange_id' | 'email';
        /** The address, account ID or email address of the recipient */
        value: string;
        /** Text of at most 64 characters without NUL, or null if the destination has none */
        memo?: string | null | undefined;
      }
    | undefined;
  /** At most 20 tags of 1 to 40 letters, digits, "_", "." or "-" */
  tags?: string[] | undefined;
}

/** A recipient */
export interface Recipient {
  /** ID with the prefix rcp_ */
  id: string;
  object: 'recipient';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The name */
  name: string;
  /** Currency code */
  currency: string;
  /** Null for a transfer within a provider */
  network: string | null;
  /** Where its payouts go */
  destination: {
    /** The type of value: crypto_address, exchange_id, email, or a value that was added later */
    type: 'crypto_address' | 'exchange_id' | 'email';
    /** The address, account ID or email address */
    value: string;
    /** The memo or destination tag */
    memo: string | null;
  };
  /** Your tags */
  tags: string[];
  /** Payouts are possible from this time on */
  usable_from: string;
  /** Whether it was made by a person on the dashboard, and waits for the approval of another one */
  awaits_second_person: boolean;
  /** The time of creation */
  created_at: string;
  /** The time of the last change */
  updated_at: string;
  /** Null while it exists */
  deleted_at: string | null;
}

/** A batch of payouts */
export interface PayoutBatchRequest {
  /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
  reference: string;
  /** Text of at most 255 characters without control characters */
  description?: string | undefined;
  /** true checks every row and answers with the faults, fees and totals */
  dry_run?: boolean | undefined;
  /** 1 to 10,000 payout requests */
  payouts: {
    /** A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50" */
    amount: string;
    /** A currency code in capital letters, such as "USDT" */
    currency: string;
    /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
    reference: string;
    /** An object with type, value and optionally memo */
    destination?:
      | {
          /** One of crypto_address, exchange_id, email */
          type: 'crypto_address' | 'exchange_id' | 'email';
          /** The address, account ID or email address of the recipient */
          value: string;
          /** Text of at most 64 characters without NUL, or null if the destination has none */
          memo?: string | null | undefined;
        }
      | undefined;
    /** The ID of a recipient, in place of destination */
    recipient?: string | undefined;
    /** The name of a network, such as "tron" */
    network?: string | undefined;
    /** One of onchain_provider, exchange_pay */
    provider?: 'onchain_provider' | 'exchange_pay' | undefined;
    /** Text of at most 255 characters without control characters */
    description?: string | undefined;
    /** An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500 */
    metadata?: Record<string, string> | undefined;
    /** An object with name, kind and optionally institution */
    beneficiary?:
      | {
          /** The full name of the person or business that receives the money, in one line of at most 100 characters */
          name: string;
          /** One of individual, business */
          kind: 'individual' | 'business';
          /** The exchange or other institution that holds the destination, in one line of at most 100 characters */
          institution?: string | undefined;
        }
      | undefined;
  }[];
}

/** A batch of payouts */
export interface PayoutBatch {
  /** ID with the prefix pb_ */
  id: string;
  object: 'payout_batch';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The status: requested, under_review, processing, completed, partially_completed, stopped, rejected, or a value that was added later */
  status:
    | 'requested'
    | 'under_review'
    | 'processing'
    | 'completed'
    | 'partially_completed'
    | 'stopped'
    | 'rejected';
  /** Your unique ID */
  reference: string;
  /** Your description */
  description: string | null;
  /** The number of rows in each state */
  rows: {
    /** All rows */
    total: number;
    /** Reserved, and not released to the provider */
    waiting: number;
    /** Released, and not final */
    processing: number;
    /** Completed */
    sent: number;
    /** Failed: the funds were returned */
    failed: number;
    /** Returned without having been submitted */
    returned: number;
    /** Left out before the approval, and returned */
    left_out: number;
  };
  /** The sums of the rows that were not left out, by currency */
  totals: {
    /** Currency code */
    currency: string;
    /** The number of rows in this currency */
    rows: number;
    /** What the recipients receive */
    amount: string;
    /** Our fees */
    service_fee: string;
    /** The fees estimated by the providers */
    network_fee: string;
    /** amount + service_fee + network_fee */
    total_debit: string;
  }[];
  /** SHA-256 of the manifest: the rows in canonical form, without those that were left out */
  manifest_sha256: string;
  /** Whether it was made by a person on the dashboard, and waits for the approval of another one */
  awaits_second_person: boolean;
  /** Null if it was not */
  stop_requested_at: string | null;
  /** Set when an operator rejected the batch */
  rejection_reason: string | null;
  /** The time of creation */
  created_at: string;
  /** The time of the last change */
  updated_at: string;
  /** Null while rows are open */
  closed_at: string | null;
}

/** The result of a dry run */
export interface PayoutBatchCheck {
  object: 'payout_batch_check';
  /** Whether the same request without dry_run is accepted now */
  valid: boolean;
  /** The refused rows. Reading ends after 1000 rows with invalid fields */
  refused_rows: {
    /** The row, counted from 1 */
    row: number;
    /** The reference of the row */
    reference: string | null;
    /** The error code */
    code: string;
    /** What is wrong and what to do */
    message: string;
    /** The details of the error code */
    details: Record<string, unknown> | null;
  }[];
  /** The sums of the other rows, by currency */
  totals: {
    /** Currency code */
    currency: string;
    /** The number of rows in this currency */
    rows: number;
    /** What the recipients receive */
    amount: string;
    /** Our fees */
    service_fee: string;
    /** The fees estimated by the providers */
    network_fee: string;
    /** amount + service_fee + network_fee */
    total_debit: string;
  }[];
  /** The first balance that does not cover its rows */
  missing: {
    /** Currency code */
    currency: string;
    /** The available balance */
    available: string;
    /** The total_debit of the rows */
    required: string;
  } | null;
  /** Why an operator must approve the batch; empty if nobody has to */
  review_reasons: (
    | 'rehearse_review'
    | 'review_all'
    | 'above_auto_approve_max'
    | 'above_auto_approve_daily_max'
    | 'first_use_of_destination'
    | 'email_destination'
    | 'new_api_key'
    | 'above_four_eyes_threshold'
  )[];
}

/** What became of the money of a batch */
export interface PayoutBatchProof {
  object: 'payout_batch_proof';
  /** ID with the prefix pb_ */
  batch_id: string;
  /** SHA-256 of the rows in canonical form, without those that were left out */
  manifest_sha256: string;
  /** Null while rows are open */
  closed_at: string | null;
  totals: {
    /** Currency code */
    currency: string;
    /** The total_debit of all rows that were not left out */
    manifest: string;
    /** The total_debit of the completed rows */
    sent: string;
    /** The total_debit of the failed rows */
    failed: string;
    /** The total_debit of the returned rows */
    returned: string;
    /** The total_debit of the rows that are not final */
    open: string;
    /** The total_debit of the rows that were left out, and returned */
    left_out: string;
    /** What the ledger reserved for the rows */
    ledger_reserved: string;
    /** What the ledger settled */
    ledger_settled: string;
    /** What the ledger returned */
    ledger_released: string;
  }[];
  /** Whether all of these sums agree */
  balanced: boolean;
  rows: {
    /** The row, counted from 1 */
    row: number;
    /** ID with the prefix po_ */
    id: string;
    reference: string;
    /** The status of the payout: requested, under_review, approved, processing, completed, rejected, failed, cancelled, or a value that was added later */
    status:
      | 'requested'
      | 'under_review'
      | 'approved'
      | 'processing'
      | 'completed'
      | 'rejected'
      | 'failed'
      | 'cancelled';
    /** Currency code */
    currency: string;
    /** What the recipient receives */
    amount: string;
    /** The amount plus fees */
    total_debit: string;
    /** Set if the provider supplied one */
    tx_hash: string | null;
    /** Whether it was left out before the approval */
    left_out: boolean;
    /** The row in canonical form */
    manifest: string;
  }[];
}

/** A list to compare */
export interface ReconciliationRequest {
  /** One of payment, payout, refund */
  object: 'payment' | 'payout' | 'refund';
  /** An ISO 8601 date, or a time with a zone, such as "2026-01-31" */
  created_from: string;
  /** An ISO 8601 date, or a time with a zone, such as "2026-01-31" */
  created_to: string;
  /** 1 to 10,000 rows */
  rows: {
    /** Text of at most 64 characters without NUL */
    reference: string;
    /** A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50" */
    amount: string;
    /** A currency code in capital letters, such as "USDT" */
    currency: string;
  }[];
}

/** A list that was compared */
export interface Reconciliation {
  object: 'reconciliation';
  /** The kind of the compared objects: payment, payout, refund, or a value that was added later */
  of: 'payment' | 'payout' | 'refund';
  /** The number of rows with each outcome */
  counts: {
    /** Rows whose amount has moved */
    matched: number;
    /** Rows with a difference */
    different: number;
    /** Rows whose reference the gateway does not know */
    unknown: number;
    /** Objects that the list does not have */
    missing: number;
  };
  /** The sums of each currency */
  totals: {
    /** Currency code */
    currency: string;
    /** The sum of the list */
    expected: string;
    /** The sum that has moved */
    recorded: string;
  }[];
  /** The rows in their order, and then the objects that the list does not have */
  rows: {
    /** The number of the row, from 1; null for an object that the list does not have */
    row: number | null;
    /** The result of the comparison: matched, different, unknown, missing, or a value that was added later */
    outcome: 'matched' | 'different' | 'unknown' | 'missing';
    /** What is different; null for another outcome */
    difference: 'amount' | 'currency' | 'status' | 'repeated' | null;
    /** Your reference; null for an object without one */
    reference: string | null;
    /** Currency code */
    currency: string;
    /** The amount of the list */
    expected_amount: string | null;
    /** The amount that has moved for the reference, in recorded_currency */
    recorded_amount: string | null;
    /** The currency of the objects */
    recorded_currency: string | null;
    /** The number of objects with the reference and the currency */
    objects: number;
    /** The ID of the newest of them */
    object_id: string | null;
    /** The status of the object with object_id */
    status: string | null;
  }[];
  /** Whether more than 10,000 objects are missing. Shorten the period then. */
  has_more_missing: boolean;
}

/** A schedule of payouts */
export interface PayoutScheduleRequest {
  /** Your unique ID: 1 to 47 letters, digits, "_" or "-" */
  reference: string;
  /** Text of at most 255 characters without control characters */
  description?: string | undefined;
  /** A cron expression of five fields, such as "0 9 1 * *", that restricts the day of month or the day of week, not both. The day of month "L" is the last day of each month */
  cron?: string | undefined;
  /** The name of the time zone of cron, such as "Europe/Berlin"; UTC by default */
  time_zone?: string | undefined;
  /** A whole number of seconds, at least 60 in live mode and 5 in test mode */
  interval_seconds?: number | undefined;
  /** A time in ISO 8601 with a zone */
  start_at?: string | undefined;
  /** A time in ISO 8601 with a zone */
  end_at?: string | undefined;
  /** true checks every row and answers with the faults, fees, totals and next times; nothing is stored */
  dry_run?: boolean | undefined;
  /** 1 to 500 payout requests */
  payouts: {
    /** A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50" */
    amount: string;
    /** A currency code in capital letters, such as "USDT" */
    currency: string;
    /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
    reference: string;
    /** An object with type, value and optionally memo */
    destination?:
      | {
          /** One of crypto_address, exchange_id, email */
          type: 'crypto_address' | 'exchange_id' | 'email';
          /** The address, account ID or email address of the recipient */
          value: string;
          /** Text of at most 64 characters without NUL, or null if the destination has none */
          memo?: string | null | undefined;
        }
      | undefined;
    /** The ID of a recipient, in place of destination */
    recipient?: string | undefined;
    /** The name of a network, such as "tron" */
    network?: string | undefined;
    /** One of onchain_provider, exchange_pay */
    provider?: 'onchain_provider' | 'exchange_pay' | undefined;
    /** Text of at most 255 characters without control characters */
    description?: string | undefined;
    /** An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500 */
    metadata?: Record<string, string> | undefined;
  }[];
}

/** A schedule of payouts */
export interface PayoutSchedule {
  /** ID with the prefix ps_ */
  id: string;
  object: 'payout_schedule';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The status: active, paused, ended, or a value that was added later */
  status: 'active' | 'paused' | 'ended';
  /** Your unique ID */
  reference: string;
  /** Your description */
  description: string | null;
  /** The cron expression, or null */
  cron: string | null;
  /** The time zone of the cron expression */
  time_zone: string | null;
  /** The seconds between two runs, or null */
  interval_seconds: number | null;
  /** No run is earlier; intervals are counted from here */
  start_at: string;
  /** Null: no end */
  end_at: string | null;
  /** The number of payouts of each run */
  rows: number;
  /** The sums of each run, without fees, by currency */
  totals: {
    /** Currency code */
    currency: string;
    /** The number of rows in this currency */
    rows: number;
    /** What the recipients of a run receive */
    amount: string;
  }[];
  /** Whether it was made by a person on the dashboard, and waits for the approval of another one */
  awaits_second_person: boolean;
  /** Null if none is known */
  next_run_at: string | null;
  /** The last run that ended */
  last_run: PayoutScheduleRun | null;
  /** The time of creation */
  created_at: string;
  /** The time of the last change or run */
  updated_at: string;
  /** Null until it has ended */
  ended_at: string | null;
}

/** What a run of the schedule would cost now, and its next times */
export interface PayoutScheduleCheck {
  object: 'payout_schedule_check';
  /** Whether the same request without dry_run is accepted now */
  valid: boolean;
  /** The refused rows. Reading ends after 1000 rows with invalid fields */
  refused_rows: {
    /** The row, counted from 1 */
    row: number;
    /** The reference of the row */
    reference: string | null;
    /** The error code */
    code: string;
    /** What is wrong and what to do */
    message: string;
    /** The details of the error code */
    details: Record<string, unknown> | null;
  }[];
  /** The sums of the other rows, by currency */
  totals: {
    /** Currency code */
    currency: string;
    /** The number of rows in this currency */
    rows: number;
    /** What the recipients receive */
    amount: string;
    /** Our fees */
    service_fee: string;
    /** The fees estimated by the providers */
    network_fee: string;
    /** amount + service_fee + network_fee */
    total_debit: string;
  }[];
  /** The first balance that does not cover its rows */
  missing: {
    /** Currency code */
    currency: string;
    /** The available balance */
    available: string;
    /** The total_debit of the rows */
    required: string;
  } | null;
  /** Why an operator must approve the batch; empty if nobody has to */
  review_reasons: (
    | 'rehearse_review'
    | 'review_all'
    | 'above_auto_approve_max'
    | 'above_auto_approve_daily_max'
    | 'first_use_of_destination'
    | 'email_destination'
    | 'new_api_key'
    | 'above_four_eyes_threshold'
  )[];
  /** Whether another person has to approve it before it pays */
  needs_second_person: boolean;
  /** The first 5 times of the schedule */
  next_run_times: string[];
}

/** A run of a schedule */
export interface PayoutScheduleRun {
  /** ID with the prefix psr_ */
  id: string;
  object: 'payout_schedule_run';
  /** ID with the prefix ps_ */
  schedule_id: string;
  /** The time of the schedule */
  scheduled_for: string;
  /** pending, created or failed: pending, created, failed, or a value that was added later */
  status: 'pending' | 'created' | 'failed';
  /** The batch of the run, once it is created */
  batch_id: string | null;
  /** Null unless the run failed */
  failure: {
    /** The error code */
    code: string;
    /** What is wrong and what to do */
    message: string;
    /** The details of the error code */
    details: Record<string, unknown> | null;
  } | null;
  /** When the run started */
  created_at: string;
  /** Null while it is pending */
  ended_at: string | null;
}

/** Balances per currency */
export interface Balance {
  object: 'balance';
  /** The mode of the API key */
  mode: 'test' | 'live';
  balances: {
    /** Currency code */
    currency: string;
    /** Available for payouts */
    available: string;
    /** Reserved for payouts that are not final */
    reserved: string;
    /** Seen by a provider and not credited yet, late funds included */
    pending: string;
  }[];
}

/** A ledger transaction */
export interface Transaction {
  /** ID with the prefix txn_ */
  id: string;
  object: 'transaction';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The type of transaction: payin_settlement, payin_refund, payout_reserve, payout_release, payout_settlement, adjustment, or a value that was added later */
  type:
    | 'payin_settlement'
    | 'payin_refund'
    | 'payout_reserve'
    | 'payout_release'
    | 'payout_settlement'
    | 'adjustment';
  /** Currency code */
  currency: string;
  description: string;
  /** The object that caused the transaction */
  source: {
    /** The type of object: payment, payout, adjustment, or a value that was added later */
    object: 'payment' | 'payout' | 'adjustment';
    id: string;
  };
  entries: {
    /** The balance that changed: available, reserved, or a value that was added later */
    balance: 'available' | 'reserved';
    /** Into or out of the balance: in, out, or a value that was added later */
    direction: 'in' | 'out';
    /** The amount */
    amount: string;
    /** The balance after this entry */
    balance_after: string;
  }[];
  /** The time of posting */
  posted_at: string;
}

/** A fee rule in force */
export interface FeeRule {
  /** payin for payments, payout for payouts: payin, payout, or a value that was added later */
  direction: 'payin' | 'payout';
  /** Provider code: onchain_provider, exchange_pay, or a value that was added later */
  provider: 'onchain_provider' | 'exchange_pay';
  /** Currency code */
  currency: string;
  /** In percent */
  percentage: string;
  /** Added to the percentage */
  fixed_amount: string;
  /** Null if there is no minimum */
  min_fee: string | null;
  /** Null if there is no maximum */
  max_fee: string | null;
}

/** A fee quote */
export interface FeeQuote {
  object: 'fee_quote';
  /** payin for payments, payout for payouts: payin, payout, or a value that was added later */
  direction: 'payin' | 'payout';
  /** Provider code: onchain_provider, exchange_pay, or a value that was added later */
  provider: 'onchain_provider' | 'exchange_pay';
  /** Currency code */
  currency: string;
  /** The amount of the quote */
  amount: string;
  /** Our fee on the amount */
  service_fee: string;
  /** Null for payouts */
  net_amount: string | null;
  /** For payouts: a network fee may be added */
  note: string | null;
}

/** The supported providers, currencies and networks */
export interface CurrencyList {
  object: 'list';
  providers: {
    /** Provider code: onchain_provider, exchange_pay, or a value that was added later */
    code: 'onchain_provider' | 'exchange_pay';
    /** Display name */
    name: string;
    pay_in: boolean;
    pay_out: boolean;
    /** The capabilities of the provider */
    capabilities: {
      pay_in: boolean;
      pay_out: boolean;
      destination_types: string[];
      network_required: boolean;
      memo_supported: boolean;
      network_fee_estimate: boolean;
      tx_hash: boolean;
      refunds: boolean;
      /** The types of address that a refund needs, which the customer names. Empty: the provider refunds to who paid */
      refund_destination_types: string[];
      partial_payments: boolean;
      /** Null if the provider has no time limit */
      checkout_ttl_seconds: number | null;
    };
  }[];
  data: {
    /** Provider code: onchain_provider, exchange_pay, or a value that was added later */
    provider: 'onchain_provider' | 'exchange_pay';
    /** payin for payments, payout for payouts: payin, payout, or a value that was added later */
    direction: 'payin' | 'payout';
    /** Currency code */
    currency: string;
    /** internal for transfers within the provider */
    network: string;
    /** The minimum amount */
    min_amount: string;
    /** Null if there is no maximum */
    max_amount: string | null;
  }[];
}

/** A webhook event */
export interface Event {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, webhook.ping, or a value that was added later */
  type:
    | 'payment.created'
    | 'payment.pending'
    | 'payment.processing'
    | 'payment.on_hold'
    | 'payment.completed'
    | 'payment.underpaid'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'payment.refunded'
    | 'payment.received'
    | 'payout.requested'
    | 'payout.approved'
    | 'payout.processing'
    | 'payout.completed'
    | 'payout.rejected'
    | 'payout.failed'
    | 'payout.cancelled'
    | 'payout_batch.approved'
    | 'payout_batch.completed'
    | 'payout_batch.stopped'
    | 'payout_batch.rejected'
    | 'payout_schedule.run_created'
    | 'payout_schedule.run_failed'
    | 'payout_schedule.ended'
    | 'recipient.created'
    | 'recipient.updated'
    | 'recipient.deleted'
    | 'refund.created'
    | 'refund.completed'
    | 'refund.failed'
    | 'webhook.ping';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  /** The object as it was at the time of the event */
  data:
    | Payment
    | Payout
    | PayoutBatch
    | PayoutSchedule
    | Recipient
    | Refund
    | {
        object: 'ping';
        /** ID with the prefix we_ */
        endpoint_id: string;
        url: string;
        events: string[];
      };
}

/** An event of a payment */
export interface PaymentEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, or a value that was added later */
  type:
    | 'payment.created'
    | 'payment.pending'
    | 'payment.processing'
    | 'payment.on_hold'
    | 'payment.completed'
    | 'payment.underpaid'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'payment.refunded'
    | 'payment.received';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  data: Payment;
}

/** An event of a payout */
export interface PayoutEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, or a value that was added later */
  type:
    | 'payout.requested'
    | 'payout.approved'
    | 'payout.processing'
    | 'payout.completed'
    | 'payout.rejected'
    | 'payout.failed'
    | 'payout.cancelled';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  data: Payout;
}

/** An event of a payout batch */
export interface PayoutBatchEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, or a value that was added later */
  type:
    | 'payout_batch.approved'
    | 'payout_batch.completed'
    | 'payout_batch.stopped'
    | 'payout_batch.rejected';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  data: PayoutBatch;
}

/** An event of a payout schedule */
export interface PayoutScheduleEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, or a value that was added later */
  type: 'payout_schedule.run_created' | 'payout_schedule.run_failed' | 'payout_schedule.ended';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  data: PayoutSchedule;
}

/** An event of a recipient */
export interface RecipientEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: recipient.created, recipient.updated, recipient.deleted, or a value that was added later */
  type: 'recipient.created' | 'recipient.updated' | 'recipient.deleted';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  data: Recipient;
}

/** An event of a refund */
export interface RefundEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: refund.created, refund.completed, refund.failed, or a value that was added later */
  type: 'refund.created' | 'refund.completed' | 'refund.failed';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  data: Refund;
}

/** An event of a webhook */
export interface WebhookEvent {
  /** ID with the prefix evt_ */
  id: string;
  /** The type of event: webhook.ping, or a value that was added later */
  type: 'webhook.ping';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The time of the event */
  created_at: string;
  /** The order of the events of one object */
  sequence: number;
  /** A test event */
  data: {
    object: 'ping';
    /** ID with the prefix we_ */
    endpoint_id: string;
    url: string;
    events: string[];
  };
}

/** An API key. What is left out is as the calling key has it */
export interface ApiKeyRequest {
  /** One line of at most 100 characters, without control characters */
  name: string;
  /** A list of scopes that the calling key has, without api_keys:write */
  scopes: (
    | 'payments:write'
    | 'payments:read'
    | 'refunds:write'
    | 'payouts:write'
    | 'payouts:read'
    | 'recipients:write'
    | 'recipients:read'
    | 'balance:read'
    | 'events:read'
    | 'webhooks:write'
    | 'webhooks:read'
    | 'api_keys:write'
    | 'api_keys:read'
    | 'request_logs:read'
  )[];
  /** A list of IP addresses and networks */
  allowed_addresses?: string[] | undefined;
  /** A whole number from 1 to 1200 */
  requests_per_minute?: number | undefined;
  /** A time in ISO 8601 with a zone */
  expires_at?: string | undefined;
  /** True or false */
  recipients_only?: boolean | undefined;
  /** A list of currency codes */
  currencies?: string[] | undefined;
  /** An object of maximum amounts by currency, such as {"USDT": {"per_payout": "500"}} */
  payout_limits?:
    | Record<
        string,
        {
          /** A decimal string such as "500" */
          per_payout?: string | undefined;
          /** A decimal string such as "500" */
          per_day?: string | undefined;
        }
      >
    | undefined;
}

/** An API key */
export interface ApiKey {
  /** ID with the prefix key_ */
  id: string;
  object: 'api_key';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The name */
  name: string;
  /** The first and the last characters of the secret */
  display: string;
  /** Whether the key works: working, revoked, expired, or a value that was added later */
  status: 'working' | 'revoked' | 'expired';
  /** What the key may do */
  scopes: string[];
  /** Networks; empty for every address */
  allowed_addresses: string[];
  /** The rate limit */
  requests_per_minute: number;
  /** Whether it pays saved recipients only */
  recipients_only: boolean;
  /** Of its payouts; empty for every currency */
  currencies: string[];
  /** Maximum amounts by currency */
  payout_limits: Record<
    string,
    {
      /** The maximum of one payout */
      per_payout?: string | undefined;
      /** The maximum of 24 hours */
      per_day?: string | undefined;
    }
  >;
  /** The key that made it; null: a person */
  created_by_key: string | null;
  /** Null: never */
  expires_at: string | null;
  /** Null if it was not */
  revoked_at: string | null;
  /** The time of creation */
  created_at: string;
  /** Null: never */
  last_used_at: string | null;
}

/** An API key with its new secret */
export interface ApiKeyWithSecret {
  /** ID with the prefix key_ */
  id: string;
  object: 'api_key';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The name */
  name: string;
  /** The first and the last characters of the secret */
  display: string;
  /** Whether the key works: working, revoked, expired, or a value that was added later */
  status: 'working' | 'revoked' | 'expired';
  /** What the key may do */
  scopes: string[];
  /** Networks; empty for every address */
  allowed_addresses: string[];
  /** The rate limit */
  requests_per_minute: number;
  /** Whether it pays saved recipients only */
  recipients_only: boolean;
  /** Of its payouts; empty for every currency */
  currencies: string[];
  /** Maximum amounts by currency */
  payout_limits: Record<
    string,
    {
      /** The maximum of one payout */
      per_payout?: string | undefined;
      /** The maximum of 24 hours */
      per_day?: string | undefined;
    }
  >;
  /** The key that made it; null: a person */
  created_by_key: string | null;
  /** Null: never */
  expires_at: string | null;
  /** Null if it was not */
  revoked_at: string | null;
  /** The time of creation */
  created_at: string;
  /** Null: never */
  last_used_at: string | null;
  /** In the first response only; null in a repeated response */
  secret: string | null;
}

/** A request to the API */
export interface RequestLog {
  /** ID with the prefix req_ */
  id: string;
  object: 'request_log';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** The ID of the API key */
  api_key_id: string;
  /** The HTTP method */
  method: string;
  /** The path */
  path: string;
  /** The query without its question mark; empty if there is none */
  query: string;
  /** The HTTP status of the response */
  status: number;
  /** Whether the response was the stored one of an earlier request */
  replayed: boolean;
  /** The Idempotency-Key, if there was one */
  idempotency_key: string | null;
  /** Where the request came from */
  ip_address: string;
  /** The User-Agent header; empty if there is none */
  user_agent: string;
  /** How long the gateway took */
  duration_ms: number;
  /** The first 4 KiB as text, without secrets; null if there is none */
  request_body: string | null;
  /** The first 4 KiB of the response as text, without secrets and with the first rows of a list; null for a file */
  response_body: string | null;
  /** The time of the request */
  created_at: string;
}

/** A webhook endpoint */
export interface WebhookEndpointRequest {
  /** A public URL of at most 2048 characters; HTTPS in live mode */
  url: string;
  /** A list of types of events, or ["all"] for all types, including future ones. payment.received is sent only to an endpoint that lists it. */
  events?:
    | (
        | 'all'
        | 'payment.created'
        | 'payment.pending'
        | 'payment.processing'
        | 'payment.on_hold'
        | 'payment.completed'
        | 'payment.underpaid'
        | 'payment.failed'
        | 'payment.expired'
        | 'payment.cancelled'
        | 'payment.refunded'
        | 'payment.received'
        | 'payout.requested'
        | 'payout.approved'
        | 'payout.processing'
        | 'payout.completed'
        | 'payout.rejected'
        | 'payout.failed'
        | 'payout.cancelled'
        | 'payout_batch.approved'
        | 'payout_batch.completed'
        | 'payout_batch.stopped'
        | 'payout_batch.rejected'
        | 'payout_schedule.run_created'
        | 'payout_schedule.run_failed'
        | 'payout_schedule.ended'
        | 'recipient.created'
        | 'recipient.updated'
        | 'recipient.deleted'
        | 'refund.created'
        | 'refund.completed'
        | 'refund.failed'
      )[]
    | undefined;
  /** One line of at most 100 characters */
  description?: string | undefined;
  /** One of gateway, standard_webhooks */
  signature?: 'gateway' | 'standard_webhooks' | undefined;
}

/** The fields of a webhook endpoint that change; an empty description removes it */
export interface WebhookEndpointChange {
  /** A public URL of at most 2048 characters; HTTPS in live mode */
  url?: string | undefined;
  /** A list of types of events, or ["all"] for all types, including future ones. payment.received is sent only to an endpoint that lists it. */
  events?:
    | (
        | 'all'
        | 'payment.created'
        | 'payment.pending'
        | 'payment.processing'
        | 'payment.on_hold'
        | 'payment.completed'
        | 'payment.underpaid'
        | 'payment.failed'
        | 'payment.expired'
        | 'payment.cancelled'
        | 'payment.refunded'
        | 'payment.received'
        | 'payout.requested'
        | 'payout.approved'
        | 'payout.processing'
        | 'payout.completed'
        | 'payout.rejected'
        | 'payout.failed'
        | 'payout.cancelled'
        | 'payout_batch.approved'
        | 'payout_batch.completed'
        | 'payout_batch.stopped'
        | 'payout_batch.rejected'
        | 'payout_schedule.run_created'
        | 'payout_schedule.run_failed'
        | 'payout_schedule.ended'
        | 'recipient.created'
        | 'recipient.updated'
        | 'recipient.deleted'
        | 'refund.created'
        | 'refund.completed'
        | 'refund.failed'
      )[]
    | undefined;
  /** One line of at most 100 characters */
  description?: string | undefined;
  /** One of gateway, standard_webhooks */
  signature?: 'gateway' | 'standard_webhooks' | undefined;
  /** True or false */
  enabled?: boolean | undefined;
}

/** A webhook endpoint */
export interface WebhookEndpoint {
  /** ID with the prefix we_ */
  id: string;
  object: 'webhook_endpoint';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** Where events are sent */
  url: string;
  /** Your description */
  description: string | null;
  /** Types of events, or "all" */
  events: string[];
  /** The headers with signatures: those of the gateway, or also webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks: gateway, standard_webhooks, or a value that was added later */
  signature: 'gateway' | 'standard_webhooks';
  /** Whether events are sent */
  enabled: boolean;
  /** The time of creation */
  created_at: string;
  /** The time of the last change */
  updated_at: string;
  /** Null while it exists */
  deleted_at: string | null;
}

/** A webhook endpoint with its new secret */
export interface WebhookEndpointWithSecret {
  /** ID with the prefix we_ */
  id: string;
  object: 'webhook_endpoint';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** Where events are sent */
  url: string;
  /** Your description */
  description: string | null;
  /** Types of events, or "all" */
  events: string[];
  /** The headers with signatures: those of the gateway, or also webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks: gateway, standard_webhooks, or a value that was added later */
  signature: 'gateway' | 'standard_webhooks';
  /** Whether events are sent */
  enabled: boolean;
  /** The time of creation */
  created_at: string;
  /** The time of the last change */
  updated_at: string;
  /** Null while it exists */
  deleted_at: string | null;
  /** The signing secret, in the first response only; null in a repeated response */
  secret: string | null;
}

/** The result of a test event */
export interface WebhookPing {
  object: 'webhook_ping';
  /** ID with the prefix we_ */
  endpoint_id: string;
  /** ID with the prefix evt_ */
  event_id: string;
  /** ID with the prefix whd_ */
  delivery_id: string;
  /** Whether the receiver took the event: succeeded, failed, or a value that was added later */
  outcome: 'succeeded' | 'failed';
  /** The HTTP status of the receiver; null without one */
  response_status: number | null;
  /** Why it failed */
  error_code: string | null;
  /** The same as a sentence */
  error: string | null;
  /** The duration of the attempt */
  duration_ms: number;
}

/** The delivery of an event to an endpoint */
export interface WebhookDelivery {
  /** ID with the prefix whd_ */
  id: string;
  object: 'webhook_delivery';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** ID with the prefix we_ */
  endpoint_id: string;
  /** ID with the prefix evt_ */
  event_id: string;
  /** The type of the event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, webhook.ping, or a value that was added later */
  event_type:
    | 'payment.created'
    | 'payment.pending'
    | 'payment.processing'
    | 'payment.on_hold'
    | 'payment.completed'
    | 'payment.underpaid'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'payment.refunded'
    | 'payment.received'
    | 'payout.requested'
    | 'payout.approved'
    | 'payout.processing'
    | 'payout.completed'
    | 'payout.rejected'
    | 'payout.failed'
    | 'payout.cancelled'
    | 'payout_batch.approved'
    | 'payout_batch.completed'
    | 'payout_batch.stopped'
    | 'payout_batch.rejected'
    | 'payout_schedule.run_created'
    | 'payout_schedule.run_failed'
    | 'payout_schedule.ended'
    | 'recipient.created'
    | 'recipient.updated'
    | 'recipient.deleted'
    | 'refund.created'
    | 'refund.completed'
    | 'refund.failed'
    | 'webhook.ping';
  /** The ID of the object that the event is about */
  object_id: string;
  /** The status of the delivery: pending, succeeded, failed, skipped, abandoned, or a value that was added later */
  status: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'abandoned';
  /** Attempts of the schedule; resending is not counted */
  attempt_count: number;
  /** Null after the last one */
  next_attempt_at: string | null;
  /** The error code of the last attempt */
  last_error: string | null;
  /** The time of creation */
  created_at: string;
  /** Null while it is pending */
  finished_at: string | null;
}

/** A delivery with its attempts */
export interface WebhookDeliveryWithAttempts {
  /** ID with the prefix whd_ */
  id: string;
  object: 'webhook_delivery';
  /** The mode of the API key */
  mode: 'test' | 'live';
  /** ID with the prefix we_ */
  endpoint_id: string;
  /** ID with the prefix evt_ */
  event_id: string;
  /** The type of the event: payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, webhook.ping, or a value that was added later */
  event_type:
    | 'payment.created'
    | 'payment.pending'
    | 'payment.processing'
    | 'payment.on_hold'
    | 'payment.completed'
    | 'payment.underpaid'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'payment.refunded'
    | 'payment.received'
    | 'payout.requested'
    | 'payout.approved'
    | 'payout.processing'
    | 'payout.completed'
    | 'payout.rejected'
    | 'payout.failed'
    | 'payout.cancelled'
    | 'payout_batch.approved'
    | 'payout_batch.completed'
    | 'payout_batch.stopped'
    | 'payout_batch.rejected'
    | 'payout_schedule.run_created'
    | 'payout_schedule.run_failed'
    | 'payout_schedule.ended'
    | 'recipient.created'
    | 'recipient.updated'
    | 'recipient.deleted'
    | 'refund.created'
    | 'refund.completed'
    | 'refund.failed'
    | 'webhook.ping';
  /** The ID of the object that the event is about */
  object_id: string;
  /** The status of the delivery: pending, succeeded, failed, skipped, abandoned, or a value that was added later */
  status: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'abandoned';
  /** Attempts of the schedule; resending is not counted */
  attempt_count: number;
  /** Null after the last one */
  next_attempt_at: string | null;
  /** The error code of the last attempt */
  last_error: string | null;
  /** The time of creation */
  created_at: string;
  /** Null while it is pending */
  finished_at: string | null;
  /** Oldest first */
  attempts: {
    /** Counted from 1 */
    number: number;
    /** Whether somebody asked for it */
    manual: boolean;
    /** Where the event was sent */
    url: string;
    /** Null while it runs */
    outcome: 'succeeded' | 'failed' | null;
    /** The HTTP status of the receiver; null without one */
    response_status: number | null;
    /** Why it failed */
    error_code: string | null;
    /** The same as a sentence */
    error: string | null;
    /** The time of its start */
    started_at: string;
    /** Null while it runs */
    finished_at: string | null;
    /** The duration */
    duration_ms: number | null;
    /** The first 16 KiB of the response, kept for 30 days */
    response_body: string | null;
  }[];
}

/** List payments: the parameters */
export interface ListPaymentsQuery {
  /** A list of created, pending, processing, on_hold, completed, underpaid, failed, expired, cancelled, refunded, separated by commas or in several parameters */
  status?:
    | 'created'
    | 'pending'
    | 'processing'
    | 'on_hold'
    | 'completed'
    | 'underpaid'
    | 'failed'
    | 'expired'
    | 'cancelled'
    | 'refunded'
    | (
        | 'created'
        | 'pending'
        | 'processing'
        | 'on_hold'
        | 'completed'
        | 'underpaid'
        | 'failed'
        | 'expired'
        | 'cancelled'
        | 'refunded'
      )[]
    | undefined;
  /** Your unique ID: 1 to 64 printable ASCII characters without spaces */
  reference?: string | undefined;
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** One of onchain_provider, exchange_pay */
  provider?: 'onchain_provider' | 'exchange_pay' | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List the refunds of a payment: the parameters */
export interface ListPaymentRefundsQuery {
  /** A list of pending, completed, failed, separated by commas or in several parameters */
  status?: 'pending' | 'completed' | 'failed' | ('pending' | 'completed' | 'failed')[] | undefined;
  /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
  reference?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List refunds: the parameters */
export interface ListRefundsQuery {
  /** A list of pending, completed, failed, separated by commas or in several parameters */
  status?: 'pending' | 'completed' | 'failed' | ('pending' | 'completed' | 'failed')[] | undefined;
  /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
  reference?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** The ID of a payment */
  payment_id?: string | undefined;
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List payouts: the parameters */
export interface ListPayoutsQuery {
  /** A list of requested, under_review, approved, processing, completed, rejected, failed, cancelled, separated by commas or in several parameters */
  status?:
    | 'requested'
    | 'under_review'
    | 'approved'
    | 'processing'
    | 'completed'
    | 'rejected'
    | 'failed'
    | 'cancelled'
    | (
        | 'requested'
        | 'under_review'
        | 'approved'
        | 'processing'
        | 'completed'
        | 'rejected'
        | 'failed'
        | 'cancelled'
      )[]
    | undefined;
  /** Your unique ID: 1 to 64 letters, digits, "_" or "-" */
  reference?: string | undefined;
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** One of onchain_provider, exchange_pay */
  provider?: 'onchain_provider' | 'exchange_pay' | undefined;
  /** The ID of a batch */
  batch?: string | undefined;
  /** The ID of a recipient */
  recipient?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List batches: the parameters */
export interface ListPayoutBatchesQuery {
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List schedules: the parameters */
export interface ListPayoutSchedulesQuery {
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List the runs of a schedule: the parameters */
export interface ListPayoutScheduleRunsQuery {
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List recipients: the parameters */
export interface ListRecipientsQuery {
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** The name of a network */
  network?: string | undefined;
  /** A tag */
  tag?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List transactions: the parameters */
export interface ListTransactionsQuery {
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** One of payin_settlement, payin_refund, payout_reserve, payout_release, payout_settlement, adjustment */
  type?:
    | 'payin_settlement'
    | 'payin_refund'
    | 'payout_reserve'
    | 'payout_release'
    | 'payout_settlement'
    | 'adjustment'
    | undefined;
  /** The ID of a payment, payout or adjustment */
  source_id?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** Export a file for accounting: the parameters */
export interface ExportFileQuery {
  /** One of payments, payouts, refunds, batches, transactions, fees, journal */
  kind: 'payments' | 'payouts' | 'refunds' | 'batches' | 'transactions' | 'fees' | 'journal';
  /** One of csv, json, xero, quickbooks, beancount, hledger, camt053 */
  format?: 'csv' | 'json' | 'xero' | 'quickbooks' | 'beancount' | 'hledger' | 'camt053' | undefined;
  /** A currency code in capital letters, such as "USDT" */
  currency?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
}

/** Quote a fee: the parameters */
export interface QuoteFeeQuery {
  /** One of payin, payout */
  direction: 'payin' | 'payout';
  /** One of onchain_provider, exchange_pay */
  provider: 'onchain_provider' | 'exchange_pay';
  /** A currency code in capital letters, such as "USDT" */
  currency: string;
  /** A decimal greater than zero with at most 8 decimals, such as "125.50" */
  amount: string;
}

/** List events: the parameters */
export interface ListEventsQuery {
  /** A list of payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed, separated by commas or in several parameters */
  type?:
    | 'payment.created'
    | 'payment.pending'
    | 'payment.processing'
    | 'payment.on_hold'
    | 'payment.completed'
    | 'payment.underpaid'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.cancelled'
    | 'payment.refunded'
    | 'payment.received'
    | 'payout.requested'
    | 'payout.approved'
    | 'payout.processing'
    | 'payout.completed'
    | 'payout.rejected'
    | 'payout.failed'
    | 'payout.cancelled'
    | 'payout_batch.approved'
    | 'payout_batch.completed'
    | 'payout_batch.stopped'
    | 'payout_batch.rejected'
    | 'payout_schedule.run_created'
    | 'payout_schedule.run_failed'
    | 'payout_schedule.ended'
    | 'recipient.created'
    | 'recipient.updated'
    | 'recipient.deleted'
    | 'refund.created'
    | 'refund.completed'
    | 'refund.failed'
    | (
        | 'payment.created'
        | 'payment.pending'
        | 'payment.processing'
        | 'payment.on_hold'
        | 'payment.completed'
        | 'payment.underpaid'
        | 'payment.failed'
        | 'payment.expired'
        | 'payment.cancelled'
        | 'payment.refunded'
        | 'payment.received'
        | 'payout.requested'
        | 'payout.approved'
        | 'payout.processing'
        | 'payout.completed'
        | 'payout.rejected'
        | 'payout.failed'
        | 'payout.cancelled'
        | 'payout_batch.approved'
        | 'payout_batch.completed'
        | 'payout_batch.stopped'
        | 'payout_batch.rejected'
        | 'payout_schedule.run_created'
        | 'payout_schedule.run_failed'
        | 'payout_schedule.ended'
        | 'recipient.created'
        | 'recipient.updated'
        | 'recipient.deleted'
        | 'refund.created'
        | 'refund.completed'
        | 'refund.failed'
      )[]
    | undefined;
  /** The ID of a payment, refund, payout, batch, schedule or recipient */
  object_id?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** Follows the events from a point on, oldest first: after the event with this ID, "oldest" for all that are kept, or "latest" for events from now on */
  after?: string | undefined;
  /** With after, or with a cursor of it: seconds to wait for an event if there is none yet */
  wait?: number | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List webhook endpoints: the parameters */
export interface ListWebhookEndpointsQuery {
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List the deliveries of an endpoint: the parameters */
export interface ListWebhookDeliveriesQuery {
  /** One of pending, succeeded, failed, skipped, abandoned */
  status?: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'abandoned' | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List API keys: the parameters */
export interface ListApiKeysQuery {
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** List requests: the parameters */
export interface ListRequestLogsQuery {
  /** An HTTP status such as 422, or a class such as 4xx */
  status?: string | undefined;
  /** One of GET, POST, PATCH, DELETE */
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | undefined;
  /** The beginning of the path, such as /api/v1/payouts */
  path?: string | undefined;
  /** The earliest time of creation; a date without a time means the whole UTC day */
  created_from?: string | undefined;
  /** The latest time of creation; a date without a time means the whole UTC day */
  created_to?: string | undefined;
  /** Number of objects per page */
  limit?: number | undefined;
  /** meta.next_cursor of the previous page, with the same filters */
  cursor?: string | undefined;
}

/** What `details` of an error has, by its code */
export interface ErrorDetails {
  account_suspended: undefined;
  authentication_required: undefined;
  /** The currencies of the key */
  currency_not_allowed: {
    allowed: string[];
  };
  cursor_expired: undefined;
  /** The request and the supported combinations */
  destination_not_supported: {
    /** Currency code */
    currency: string;
    provider: string | null;
    destination_type: string;
    supported: {
      provider: string;
      destination_types: string[];
    }[];
  };
  /** The object that uses the reference */
  duplicate_reference: {
    existing_id: string;
    /** Type of the object */
    existing_object: 'payout' | 'payment' | 'payout_batch' | 'payout_schedule' | 'refund';
  };
  idempotency_key_required: undefined;
  idempotency_key_reused: undefined;
  /** The available and the required amount */
  insufficient_balance: {
    /** Currency code */
    currency: string;
    /** The available balance */
    available: string;
    /** What the request takes from the balance */
    required: string;
  };
  /** The missing scope */
  insufficient_scope: {
    required_scope: string;
  };
  internal_error: undefined;
  invalid_api_key: undefined;
  invalid_json: undefined;
  /** The current status */
  invalid_state: {
    status: string;
  };
  ip_not_allowed: undefined;
  /** Why the key may not be changed */
  key_change_not_allowed: {
    /** The reason */
    reason: 'not_made_by_this_key' | 'live_keys_by_people';
  };
  /** The limit and its use */
  limit_exceeded: {
    /** The limit, of the account or of the API key */
    limit: 'per_transaction' | 'daily' | 'key_per_transaction' | 'key_daily';
    /** Currency code */
    currency: string;
    /** The maximum */
    maximum: string;
    /** The amount used in the last 24 hours */
    used: string;
    /** The requested amount */
    requested: string;
    /** When the oldest payout no longer counts; null if no payout counts */
    resets_at: string | null;
  };
  /** The supported networks */
  network_required: {
    provider: string;
    /** Currency code */
    currency: string;
    networks: string[];
  };
  /** The resource that was not found */
  not_found: {
    resource: string;
  };
  payload_too_large: undefined;
  /** The rate limit */
  rate_limited: {
    limit_per_minute: number;
  };
  /** The recipient and the end of its wait */
  recipient_not_ready: {
    recipient: string;
    /** When the wait ends */
    usable_from: string;
  };
  /** Where the rule is set */
  recipient_required: {
    /** What is held to recipients */
    held: 'account' | 'api_key';
  };
  /** The requested amount and what is left */
  refund_exceeds_payment: {
    /** Currency code */
    currency: string;
    /** The requested amount */
    requested: string;
    /** What was credited and is not refunded, or being refunded, yet */
    refundable: string;
  };
  /** The key that may release the payout */
  release_not_allowed: {
    api_key: string;
  };
  request_in_progress: undefined;
  /** The refused rows */
  rows_refused: {
    /** The number of refused rows. Reading ends after 1000 rows with invalid fields */
    refused: number;
    /** The first 1000 refused rows */
    rows: {
      /** The row, counted from 1 */
      row: number;
      /** The reference of the row */
      reference: string | null;
      /** The error code */
      code: string;
      /** What is wrong and what to do */
      message: string;
      /** The details of the error code */
      details: Record<string, unknown> | null;
    }[];
  };
  /** The reason */
  service_unavailable: {
    reason: string;
  };
  /** The type of object and its maximum */
  too_many_objects: {
    resource: string;
    /** The maximum */
    maximum: number;
  };
  unsupported_media_type: undefined;
  /** All invalid fields */
  validation_failed: {
    fields: {
      /** Path of the field, such as destination.value */
      field: string;
      /** The rule that the field breaks */
      rule:
        | 'required'
        | 'type'
        | 'format'
        | 'too_short'
        | 'too_long'
        | 'min_amount'
        | 'max_amount'
        | 'unsupported'
        | 'memo_required'
        | 'memo_not_supported'
        | 'unknown_provider'
        | 'out_of_range'
        | 'not_found';
      /** How to correct the field */
      message: string;
    }[];
  };
}

export type ErrorCode = keyof ErrorDetails;

/** The events that one request makes happen in test mode, and what the requests have beside it. */
export const TEST_EVENTS = {
  'payment.created': { object: 'payment', scenario: 'completed' },
  'payment.processing': { object: 'payment', scenario: 'underpaid' },
  'payment.on_hold': { object: 'payment', scenario: 'on_hold' },
  'payment.completed': { object: 'payment', scenario: 'completed' },
  'payment.received': { object: 'payment', scenario: 'paid_again' },
  'payment.underpaid': { object: 'payment', scenario: 'underpaid' },
  'payment.failed': { object: 'payment', scenario: 'failed' },
  'payment.expired': { object: 'payment', scenario: 'expired' },
  'payment.cancelled': { object: 'payment', scenario: 'cancelled' },
  'payment.refunded': { object: 'payment', scenario: 'refunded' },
  'payout.requested': { object: 'payout', amount: '10' },
  'payout.approved': { object: 'payout', amount: '10' },
  'payout.processing': { object: 'payout', amount: '10' },
  'payout.completed': { object: 'payout', amount: '10' },
  'payout.failed': { object: 'payout', amount: '10.00009001' },
} as const;
export const TEST_PAYMENT = { amount: '100', currency: 'USDT' } as const;
export const TEST_PAYOUT = {
  currency: 'USDT',
  network: 'tron',
  destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
} as const;
