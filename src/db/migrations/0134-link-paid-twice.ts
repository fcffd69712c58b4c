/**
 * The worker closes the other checkouts of a payment link that was paid, and a merchant is notified of a link that was
 * paid twice. The payments of a link are found by their references, so a link need not name the latest.
 */
export const sql = /* sql */ `
ALTER TABLE payment_links DROP COLUMN payment_id;
CREATE POLICY worker_rows ON payment_links FOR SELECT TO gateway_worker USING (true);
GRANT SELECT ON payment_links TO gateway_worker;

-- One more than were noted: a request may have ended between the payment and its note.
CREATE FUNCTION link_references(p_reference text, p_opened integer) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = public, pg_temp AS $$
  SELECT array_agg(p_reference || CASE n WHEN 1 THEN '' ELSE '-' || n END)
    FROM generate_series(1, p_opened + 1) n
$$;
GRANT EXECUTE ON FUNCTION link_references TO gateway_worker, gateway_dashboard, gateway_merchant;

CREATE FUNCTION note_link_paid_twice() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  link payment_links;
BEGIN
  -- With the lock, two payments that are credited at the same moment see each other.
  SELECT l.* INTO link FROM payments p JOIN payment_links l ON l.id = p.metadata->>'payment_link'
   WHERE p.id = NEW.object_id AND (l.account_id, l.mode) = (p.account_id, p.mode) FOR UPDATE OF l;
  IF FOUND AND (
    SELECT count(*) FROM payments p
     WHERE (p.account_id, p.mode) = (link.account_id, link.mode) AND p.metadata->>'payment_link' = link.id
       AND p.reference = ANY (link_references(link.reference, link.opened)) AND p.credited_amount > 0
  ) > 1 THEN
    PERFORM note_occasion('link_paid_twice', link.id, link.account_id, link.mode, link.id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_link_paid_twice AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type IN ('payment.completed', 'payment.underpaid')) EXECUTE FUNCTION note_link_paid_twice();
`;
