/** A requested payout that goes to review later is no longer one that was approved without an operator. */
export const sql = /* sql */ `
CREATE FUNCTION count_later_review() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.created_at > hold_payout_usage(NEW.account_id, NEW.mode, NEW.currency) THEN
    UPDATE payout_usage u
       SET auto_approved = u.auto_approved
             + CASE WHEN NEW.review_reasons = '{}' THEN NEW.amount ELSE -NEW.amount END
     WHERE (u.account_id, u.mode, u.currency) = (NEW.account_id, NEW.mode, NEW.currency);
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION count_later_review FROM PUBLIC;
CREATE TRIGGER count_later_review AFTER UPDATE OF review_reasons ON payouts FOR EACH ROW
  WHEN ((OLD.review_reasons = '{}') <> (NEW.review_reasons = '{}')
        AND NEW.status NOT IN ('rejected', 'failed', 'cancelled'))
  EXECUTE FUNCTION count_later_review();
`;
