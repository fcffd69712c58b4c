/** The admin command as tests run it: in this process, on a database of their own. */
import { runAdmin } from '../../src/shell/admin/admin';
import type { Db } from '../../src/db/transaction';
import { type Ended, runProgram } from '../support/servers/programs';

/** The one that http-harness.ts gives its gateways: a key made here has to work there. */
export const PEPPER = 'the pepper of the tests: long enough';

/** A document, whose shape the test is about to check. */
type Json = ReturnType<typeof JSON.parse>;

/** Commands and audit rows of one database. */
export class Admin {
  readonly #env: NodeJS.ProcessEnv;

  constructor(adminUrl: string, more: NodeJS.ProcessEnv = {}) {
    // No data folder: a test that forgot something must not find the developer's.
    const own = { DATABASE_OWNER_URL: adminUrl, KEY_PEPPER: PEPPER, GATEWAY_DATA_DIR: '/nowhere' };
    this.#env = { ...own, ...more };
  }

  run(...args: string[]): Promise<Ended> {
    return runProgram(runAdmin, args, this.#env);
  }

  /** The document of a command that has to succeed. */
  async json(...args: string[]): Promise<Json> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** The rows of a list. */
  async list(...args: string[]): Promise<Record<string, string | null>[]> {
    return (await this.json(...args)).data;
  }

  /** The sentence of a command that has to be turned down, and nothing on stdout. */
  async refusal(code: 1 | 2, ...args: string[]): Promise<string> {
    const ended = await this.run(...args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).not.toContain('    at ');
    return ended.stderr;
  }
}

/** A command with some of its options changed or added, each of them once: a repeated option is refused. */
export function withOptions(command: readonly string[], changed: readonly string[]): string[] {
  const names = new Set(changed.map((word) => word.split('=')[0]!));
  const isChanged = (word = ''): boolean => word.startsWith('--') && names.has(word);
  const kept = command.filter((word, index) => !isChanged(word) && !isChanged(command[index - 1]));
  return [...kept, ...changed];
}

export interface AuditRow {
  actor: string;
  action: string;
  object: string;
  objectId: string;
  accountId: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  reason: string | null;
}

/** Oldest first. */
export function auditRows(db: Db, objectId?: string): Promise<AuditRow[]> {
  return db.query<AuditRow>(
    `SELECT actor, action, object, object_id, account_id, before, after, reason
       FROM audit_log WHERE object_id = coalesce(?::text, object_id) ORDER BY id`,
    [objectId ?? null],
  );
}
