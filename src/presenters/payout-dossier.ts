/** What the database has about a payout, as its dossier shows it. */
import type { AuditFact, DossierFacts } from '../db/repositories/payout-dossier';
import { canonicalJson } from '../lib/canonical-json';
import type { PayoutDossierObject } from '../schemas/payout-dossiers';

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
