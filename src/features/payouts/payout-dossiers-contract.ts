/** The dossier of a payout on the wire (decisions/payouts#payout-dossier). */
import { type Static, Type } from 'typebox';
import { Id, OrNull, Shape, Timestamp } from '../../kit/api/common';
import { idOf, shown, operations } from '../../kit/api/operation';
import { PAYOUT_EXAMPLE, PayoutObject } from './payouts-contract';
import { TransactionObject } from '../books/transactions-contract';
import type { AuditFact, DossierFacts } from '../../db/payouts/payout-dossier';
import { canonicalJson } from '../../platform/lib/canonical-json';

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hexadecimal' });
const Time = Type.String({ format: 'date-time' });
const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const Request = Shape(
  {
    sha256: OrNull(
      Digest,
      'The hash by which the request is known again; of the whole batch for a row of one. Null for payouts before version 1',
    ),
    requested_by: text('The API key, or the person on the dashboard'),
    batch: OrNull(Type.String(), 'The batch that the payout is a row of'),
    batch_manifest_sha256: OrNull(Digest, 'The rows that were approved together'),
  },
  'The request',
);

const Review = Shape(
  {
    reasons: Type.Array(Type.String(), {
      description: 'The rules that asked for a review; empty if none did',
    }),
    fee_terms: text('The fee rule that was applied, as JSON'),
    operators: Type.Array(
      Shape(
        {
          operator: text(
            'The same for the decisions of one operator, such as "operator 1". "operator, claimed via signal": the decision came as a signal to the workflow, whose sender may claim any name',
          ),
          decision: text('approve or reject'),
          outcome: OrNull(
            Type.String(),
            'What became of the decision; null: it is not applied yet',
          ),
          decided_at: OrNull(Time, 'When it was applied'),
        },
        'A decision of an operator',
      ),
    ),
    people: Type.Array(
      Shape(
        { email: text('A person of your account'), approved_at: Timestamp('When') },
        'A second person',
      ),
    ),
    api_keys: Type.Array(
      Shape(
        { api_key: text('The key'), approved_at: Timestamp('When') },
        'A release by another API key',
      ),
    ),
  },
  'What was asked and decided before the payout was sent',
);

const Screening = Shape(
  {
    source: text('service or list'),
    verdict: text('clear'),
    answered_at: Timestamp('When'),
  },
  'An answer that cleared the destination',
);

const Submission = Shape(
  {
    started_at: OrNull(Time, 'Before the order left for the provider; null: it did not'),
    accepted_at: OrNull(Time, 'When the provider had accepted it'),
    provider: text('The provider'),
    provider_reference: OrNull(Type.String(), 'The provider’s own ID'),
    tx_hash: OrNull(Type.String(), 'The transaction'),
  },
  'What was sent to the provider',
);

const Event = Shape(
  {
    id: Id('event'),
    type: text('The type of event'),
    sequence: count('Its number of the payout'),
    created_at: Timestamp('When'),
    body_sha256: OrNull(Digest, 'Of the body that was sent; null once the body is deleted'),
    deliveries: Type.Array(
      Shape(
        {
          id: text('The delivery'),
          webhook_endpoint: text('The endpoint'),
          status: text('The status of the delivery'),
          finished_at: OrNull(Time, 'When it ended'),
          attempts: Type.Array(
            Shape(
              {
                number: count('Counts from 1'),
                started_at: Timestamp('When'),
                outcome: OrNull(Type.String(), 'succeeded or failed'),
                http_status: OrNull(Type.Integer(), 'What your endpoint answered'),
              },
              'An attempt; attempts are deleted after 30 days',
            ),
          ),
        },
        'A delivery of the event to one endpoint',
      ),
    ),
  },
  'An event of the payout',
);

const AuditEntry = Shape(
  {
    id: text('The entry'),
    at: Timestamp('When'),
    action: text('Such as payout.approve'),
    sequence: OrNull(Type.Integer(), 'Its place in the chain; null: it has none yet'),
    previous_hash: OrNull(Digest, 'The hash before it in the chain'),
    hash: OrNull(Digest, 'SHA-256 of the bytes of the previous hash and the text of sealed'),
    sealed: OrNull(Type.String(), 'The text that the chain contains'),
    salt: OrNull(Digest, 'Of your own entries'),
    personal: OrNull(
      Type.String(),
      'Of your own entries: SHA-256 of the bytes of the salt and this text is personal_sha256 in sealed',
    ),
  },
  'An entry of the audit log',
);

const Signature = Shape(
  {
    algorithm: Type.Literal('Ed25519'),
    key_id: text('The key, as GET /api/v1/signing_keys lists it'),
    digests: Type.Record(Type.String(), Digest, { description: 'SHA-256 of each field' }),
    value: text('The signature in base64'),
  },
  'The signature',
);

/** A payout's dossier (decisions/payouts#payout-dossier). */
export const PayoutDossierObject = Shape(
  {
    id: Id('payout'),
    object: Type.Literal('payout_dossier'),
    created_at: Timestamp('When the dossier was made'),
    payout: PayoutObject,
    request: Request,
    review: Review,
    screening: Type.Array(Screening),
    submission: Submission,
    postings: Type.Array(TransactionObject),
    events: Type.Array(Event),
    audit: Type.Array(AuditEntry),
    signature: OrNull(Signature, 'Null: the gateway has no signing key'),
  },
  'The signed record of a payout',
);
export type PayoutDossierObject = Static<typeof PayoutDossierObject>;

const EXAMPLE: PayoutDossierObject = {
  id: PAYOUT_EXAMPLE.id,
  object: 'payout_dossier',
  created_at: '2026-11-21T07:09:12.000Z',
  payout: PAYOUT_EXAMPLE,
  request: {
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    requested_by: 'key_01M7YESA634WQFACSBWYSTKM76',
    batch: null,
    batch_manifest_sha256: null,
  },
  review: { reasons: ['all_payouts'], fee_terms: '{}', operators: [], people: [], api_keys: [] },
  screening: [],
  submission: {
    started_at: null,
    accepted_at: null,
    provider: 'onchain_provider',
    provider_reference: null,
    tx_hash: null,
  },
  postings: [],
  events: [],
  audit: [],
  signature: null,
};

/** The operation that makes a dossier. */
export const PAYOUT_DOSSIER_OPERATIONS = operations([
  {
    id: 'getPayoutDossier',
    method: 'get',
    path: '/payouts/{id}/dossier',
    tag: 'Payouts',
    summary: 'Retrieve the dossier of a payout',
    description:
      'Returns what was requested, decided, checked, posted, sent and delivered, signed with a key of the gateway. Check it without a connection with `payments-gateway verify-dossier`.',
    scope: 'payouts:read',
    parameters: [idOf('payout')],
    success: shown(PayoutDossierObject, EXAMPLE),
    errors: ['not_found'],
  },
]);

/** What the database has about a payout, as its dossier shows it. */

export type PayoutDossier = PayoutDossierObject;
type Shown = Pick<PayoutDossier, keyof DossierFacts>;

export function presentDossierFacts({ audit, review, ...facts }: DossierFacts): Shown {
  return {
    ...facts,
    review: { ...review, operators: presentDeciders(review.operators) },
    audit: audit.map(presentAuditFact),
  };
}

/**
 * The decisions without approvals that a screening refused, of which no merchant learns; the others are
 * numbered anew.
 */
function presentDeciders(decisions: DossierFacts['review']['operators']) {
  const seen = decisions.filter(({ outcome }) => outcome !== 'blocked');
  const people = [...new Set(seen.map(({ operator }) => operator))];
  return seen.map((decision) => ({
    ...decision,
    operator: `operator ${people.indexOf(decision.operator) + 1}`,
  }));
}

/** Of an operator's entry the merchant sees that it is in the chain, and not who made it and why. */
function presentAuditFact(fact: AuditFact): Shown['audit'][number] {
  const { id, at, action, sequence, hash, previous_hash, sealed, salt, is_own } = fact;
  const { actor, address, before, after, reason } = fact;
  const isShown = is_own === true && salt !== null;
  return {
    ...{ id, at, action, sequence, hash, sealed },
    previous_hash: sealed === null ? null : previous_hash,
    salt: isShown ? salt : null,
    personal: isShown ? canonicalJson({ actor, address, before, after, reason }) : null,
  };
}
