/** Payouts and payments from POST to completed, against the leanest workflows with the same steps. */
import { startBareFlows, startGatewayFlows, runLifecycles, type Flows, type Kind } from '../flows';
import { startCountingReceiver } from '../receiver';
import type { Aim, Contest, Row, Side } from '../row';
import { whenIdle } from './creates';

const FIGURE = 'completed/s';

const sideOf = (flows: Flows, kind: Kind): Side => ({
  measure: async (ms) => {
    const { perSecond } = await runLifecycles(flows, kind, ms);
    // Deliveries that still wait would take their time from the other side.
    await whenIdle(flows);
    return { [FIGURE]: perSecond };
  },
});

function lifecycleRow(
  name: string,
  description: string,
  kind: Kind,
  ratio: Aim,
  start: () => Promise<{ gateway: Flows; bare: Flows; stop?: () => Promise<void> }>,
): Row {
  return {
    name,
    description,
    needsTemporal: true,
    figures: [{ name: FIGURE, ratio }],
    prepare: async (): Promise<Contest> => {
      const { gateway, bare, stop } = await start();
      return {
        gateway: sideOf(gateway, kind),
        bare: sideOf(bare, kind),
        stop: async () => {
          await Promise.all([gateway.stop(), bare.stop()]);
          await stop?.();
        },
      };
    },
  };
}

const against = (payout: 'leanPayout' | 'regularPayout') => async () => {
  const [gateway, bare] = await Promise.all([startGatewayFlows(), startBareFlows({ payout })]);
  return { gateway, bare };
};

export const LIFECYCLE_ROWS: readonly Row[] = [
  lifecycleRow(
    'lifecycle',
    'payouts from POST to completed; the leanest workflow with the same steps',
    'payout',
    { atLeast: 0.8 },
    against('leanPayout'),
  ),
  lifecycleRow(
    'lifecycle-regular',
    'the same; the leanest workflow with regular activities for provider calls',
    'payout',
    { atLeast: 1.3 },
    against('regularPayout'),
  ),
  lifecycleRow(
    'lifecycle-endpoint',
    'the same with one endpoint; the gateway without an endpoint',
    'payout',
    { atLeast: 0.75 },
    async () => {
      const receiver = await startCountingReceiver();
      const bare = await startGatewayFlows();
      const { gateway: shared } = bare;
      const gateway = await startGatewayFlows({ gateway: shared, endpoints: [receiver.url] });
      return { gateway, bare, stop: receiver.stop };
    },
  ),
  lifecycleRow(
    'payment',
    'payments from POST to completed; the leanest workflow with the same steps',
    'payment',
    { atLeast: 0.8 },
    against('leanPayout'),
  ),
];
