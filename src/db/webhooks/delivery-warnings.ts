/**
 * Endpoints whose merchant has to act: deliveries that were skipped because too many were open, and
 * unsuccessful ones whose events are deleted soon, so that they cannot be sent any more
 * (decisions/webhooks#retention).
 */
import type { Owner } from '../../domain/mode';
import type { Reader } from '../transaction';

/** Counts stop here. */
export const WARNING_MAX = 100;

/** A delivery is counted this many days before its event is deleted. */
export const WARNING_DAYS = 3;
const KEPT_DAYS = 30;

/** An endpoint whose merchant has to act. */
export interface DeliveryWarning {
  endpointId: string;
  url: string;
  /**
   * The number of the newest unsuccessful deliveries that were skipped because too many were open.
   */
  skipped: number;
  /** Failed or skipped deliveries whose events are deleted within WARNING_DAYS. */
  expiring: number;
}

/**
 * Both counts read a bounded part of an index: the newest deliveries of an endpoint, and those of a few
 * days, whose ids begin with their time.
 * @param idAt the smallest id of a delivery that was created at a time
 */
export async function listDeliveryWarnings(
  db: Reader,
  { accountId, mode }: Owner,
  now: Date,
  idAt: (time: Date) => string,
): Promise<DeliveryWarning[]> {
  const daysAgo = (days: number) => idAt(new Date(now.getTime() - days * 86_400_000));
  const unsuccessful = `d.endpoint_id = p.id AND d.status IN ('failed', 'skipped', 'abandoned')`;
  return db.query<DeliveryWarning>(
    `SELECT * FROM (
       SELECT p.id AS endpoint_id, p.url,
              (SELECT count(*)::integer FROM (
                 SELECT d.status, d.last_error FROM webhook_deliveries d
                  WHERE ${unsuccessful} AND d.id >= ? ORDER BY d.id DESC LIMIT ${WARNING_MAX}) AS latest
                WHERE latest.status = 'skipped' AND latest.last_error = 'too_many_open') AS skipped,
              (SELECT count(*)::integer FROM (
                 SELECT FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
                  WHERE ${unsuccessful} AND d.id >= ? AND d.id < ?
                    AND d.status IN ('failed', 'skipped') AND e.body IS NOT NULL
                  LIMIT ${WARNING_MAX}) AS old) AS expiring
         FROM webhook_endpoints p
        WHERE p.account_id = ? AND p.mode = ? AND p.deleted_at IS NULL) AS counted
      WHERE skipped > 0 OR expiring > 0 ORDER BY endpoint_id`,
    [daysAgo(KEPT_DAYS), daysAgo(KEPT_DAYS), daysAgo(KEPT_DAYS - WARNING_DAYS), accountId, mode],
  );
}
