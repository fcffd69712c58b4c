/** What a merchant is told about deliveries that were skipped, or that can soon not be sent any more. */
import type { DeliveryWarning } from '../webhook-endpoints';
import { WARNING_DAYS, WARNING_MAX } from '../webhook-endpoints';
import { Alert } from '../../../kit/pages/components';

interface DeliveryWarningsProps {
  warnings: readonly DeliveryWarning[];
  base: string;
}

export function DeliveryWarnings({ warnings, base }: DeliveryWarningsProps) {
  return (
    <>
      {warnings.map(({ endpointId, url, skipped, expiring }) => {
        const path = `${base}/webhooks/${endpointId}`;
        return (
          <>
            {skipped === 0 ? null : (
              <Alert tone="bad" title={`Webhook deliveries were skipped: ${counted(skipped)}`}>
                <p>
                  10 000 deliveries to {url} were open. Correct the receiver, then{' '}
                  <a href={`${path}?status=skipped`}>recover what was skipped</a>.
                </p>
              </Alert>
            )}
            {expiring === 0 ? null : (
              <Alert tone="bad" title={`Webhook deliveries expire soon: ${counted(expiring)}`}>
                <p>
                  Events are kept for 30 days. In less than {WARNING_DAYS} days, these deliveries to{' '}
                  {url} cannot be sent any more. <a href={path}>Recover them</a>.
                </p>
              </Alert>
            )}
          </>
        );
      })}
    </>
  );
}

function counted(count: number): string {
  return count === WARNING_MAX ? `${count} or more` : String(count);
}
