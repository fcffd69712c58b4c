/** A decision by a raw signal is in the dossier, with the decisions of the console. */
import { sql as dossier } from './0056-payout-dossier';

const FUNCTION = dossier.slice(dossier.indexOf('CREATE FUNCTION payout_dossier'));
const PEOPLE = `, '[]'),
    'people'`;
const SIGNALS = `, '[]') || coalesce((
      SELECT jsonb_agg(jsonb_build_object('operator', 'operator, claimed via signal',
                         'decision', split_part(l.action, '.', 2), 'outcome', 'applied',
                         'decided_at', l.at) ORDER BY l.id)
        FROM audit_log l WHERE l.object_id IN (p.id, p.batch_id) AND l.via = 'signal'), '[]'),
    'people'`;

/** The function as before, with signals among the decisions of operators. */
export const sql = FUNCTION.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION').replace(
  PEOPLE,
  SIGNALS,
);
