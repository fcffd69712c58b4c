/** A user whose password was changed is told, whoever changed it (decisions/notifications#notifications). */
export const sql = /* sql */ `
CREATE FUNCTION note_password_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('password_changed', NEW.id::text, NULL, NULL, NEW.object_id, NEW.object_id);
  RETURN NULL;
END $$;
CREATE TRIGGER note_password_occasion AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action IN ('user.change_password', 'user.reset_password', 'user.vouch'))
  EXECUTE FUNCTION note_password_occasion();
`;
