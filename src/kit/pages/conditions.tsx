/** What a payout waits for, for its merchant and for operators. */
import type { Payout } from '../../domain/payout';
import { type Condition, conditionWords } from '../../domain/payout-condition';
import { Alert, Card, Facts, Time, words } from './components';

function titleOf([first, ...more]: readonly Condition[]): string {
  if (first === undefined) return 'All conditions are met';
  const isTime = first.kind === 'time' && more.length === 0;
  return isTime ? `Scheduled for ${conditionWords(first)}` : 'Waiting for';
}

interface WaitsForProps {
  payout: Pick<Payout, 'awaitsRelease' | 'releaseExpiresAt' | 'releasedAt'>;
  conditions: readonly Condition[];
}

export function WaitsFor({ payout, conditions }: WaitsForProps) {
  const { awaitsRelease, releaseExpiresAt, releasedAt } = payout;
  if (awaitsRelease === null) return null;
  const open = conditions.filter(({ metAt }) => metAt === null);
  return (
    <>
      {awaitsRelease ? (
        <Alert tone="wait" title={titleOf(open)}>
          {open.every(({ kind }) => kind === 'time') ? undefined : (
            <ul>
              {open.map((condition) => (
                <li class="break">{conditionWords(condition)}</li>
              ))}
            </ul>
          )}
        </Alert>
      ) : null}
      <Card title="Conditions">
        <Facts
          rows={[
            ...conditions.map(
              (condition) =>
                [
                  words(condition.kind),
                  <>
                    <span class="break">{conditionWords(condition)}</span>{' '}
                    {condition.metAt === null ? (
                      <small>not yet</small>
                    ) : (
                      <small>
                        met <Time at={new Date(condition.metAt)} />
                      </small>
                    )}
                  </>,
                ] as const,
            ),
            ['Expires', releaseExpiresAt === null ? null : <Time at={releaseExpiresAt} />],
            ['Released', releasedAt === null ? null : <Time at={releasedAt} />],
          ]}
        />
      </Card>
    </>
  );
}
