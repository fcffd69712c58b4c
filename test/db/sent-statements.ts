import { Connection } from '../../src/platform/postgres/connection';
import type { Statement } from '../../src/platform/postgres/queries';

/** What connections and transactions send of their own. */
const OWN = /^(?:BEGIN|COMMIT|ROLLBACK|SELECT pg_backend_pid|SELECT set_config\('role')/;

/** The statements that this process sends to PostgreSQL during the work. */
export async function sentStatements(
  work: () => Promise<unknown>,
): Promise<{ sql: string; bindings: unknown[] }[]> {
  const sent: Statement[] = [];
  const { run, runTogether } = Connection.prototype;
  Connection.prototype.run = function (statement, timeoutMs) {
    sent.push(statement);
    return run.call(this, statement, timeoutMs);
  };
  Connection.prototype.runTogether = function (statements, timeoutMs) {
    sent.push(...statements);
    return runTogether.call(this, statements, timeoutMs);
  };
  try {
    await work();
  } finally {
    Object.assign(Connection.prototype, { run, runTogether });
  }
  return sent
    .filter(({ text }) => !OWN.test(text))
    .map(({ text, values }) => ({ sql: text, bindings: [...values] }));
}
