/** The ledger check: its result, and what it found as a file. */
import type { ConsoleServices, OpenCases } from './services';
import type { LedgerReport, OperatorSchedule } from './operations-services';
import { Card, Facts, Status, Time } from '../../kit/pages/components';
import { Action } from '../../kit/pages/forms';
import { Icon } from '../../kit/pages/icon';
import { PageRefusal } from '../../kit/pages/problems';
import { get, type OperatorRoute, PREFIX } from '../../kit/pages/operator-page';

const PATH = `${PREFIX}/operations`;

export function ledgerPages({ operations }: ConsoleServices): OperatorRoute[] {
  return [
    get('/operations/ledger-proof', { cost: 'export', needs: 'read' }, async ({ by }) => {
      const report = await operations.ledgerReport();
      if (report === null) throw new PageRefusal('page_not_found');
      const proof = {
        ...presentProof(report),
        downloaded_at: new Date(),
        downloaded_by: by.actor,
      };
      return {
        kind: 'download',
        name: `ledger-proof-${report.checkedAt.toISOString().slice(0, 19).replaceAll(':', '')}.json`,
        type: 'application/json; charset=utf-8',
        content: [`${JSON.stringify(proof, null, 2)}\n`],
      };
    }),
  ];
}

function presentProof({ checkedAt, provenAt, balances, transactions, invariants }: LedgerReport) {
  return {
    object: 'ledger_proof',
    result: invariants.every(({ broken }) => broken === 0) ? 'succeeded' : 'failed',
    checked_at: checkedAt,
    checked_by: 'schedule ledger-check',
    last_successful_check_at: provenAt,
    scope:
      'Each check verifies what has changed since the last successful check. The counts of an ' +
      'invariant are of these changes; balances and transactions are those of the whole ledger.',
    balances,
    transactions,
    invariants,
  };
}

interface LedgerProps {
  provenAt: Date;
  hasReport: boolean;
  cases: readonly OpenCases[];
  isLate: boolean;
  mayRun: boolean;
}

export function Ledger({ provenAt, hasReport, cases, isLate, mayRun }: LedgerProps) {
  const broken = cases.some(({ kind }) => kind === 'ledger_broken');
  const notChecked = cases.some(({ kind }) => kind === 'ledger_not_checked');
  const result = broken ? 'failed' : isLate || notChecked ? 'late' : 'succeeded';
  return (
    <Card
      title="Ledger check"
      lead="Every five minutes it verifies what has changed, and pauses payouts if an invariant is broken."
      action={
        <div class="actions">
          {hasReport ? (
            <a class="btn" data-variant="outline" href={`${PATH}/ledger-proof`}>
              <Icon name="download" /> Download proof
            </a>
          ) : null}
          {mayRun ? <Run schedule="ledger-check" label="Check now" /> : null}
        </div>
      }
    >
      <Facts
        rows={[
          ['Result', <Status value={result} />],
          ['Last successful check', <Time at={provenAt} seconds />],
          [
            'Cases',
            broken || notChecked ? (
              <a
                class="link"
                href={`${PREFIX}/cases?kind=${broken ? 'ledger_broken' : 'ledger_not_checked'}`}
              >
                Show
              </a>
            ) : (
              'None'
            ),
          ],
        ]}
      />
    </Card>
  );
}

export function Run({ schedule, label }: { schedule: OperatorSchedule; label: string }) {
  return <Action action={`${PATH}/run`} label={label} icon="play" hidden={{ schedule }} />;
}
