/** `npm run bench -- --scale`: the rates with one and with two worker and API processes. */
import { ChildProgram } from '../support/servers/child-program';
import { startSecondApi, type OwnGateway } from '../support/servers/gateway';
import { runLifecycles, startGatewayFlows } from './flows';
import { startCountingReceiver } from './receiver';
import type { Setting } from './row';
import { createUnderLoad } from './rows/creates';
import { deliverAll, ENDPOINTS } from './rows/deliveries';

const MEASURE_MS = { full: 30_000, quick: 5_000 };

/** @returns a table in Markdown */
export async function measureScale({ isQuick, log }: Setting): Promise<string> {
  const ms = isQuick ? MEASURE_MS.quick : MEASURE_MS.full;
  const receiver = await startCountingReceiver();
  const first = await startGatewayFlows();
  const endpoints = Array.from({ length: ENDPOINTS }, (_, n) => `${receiver.url}/${n}`);
  const lines: string[] = [];
  const measure = async (processes: number, baseUrls: string[]): Promise<void> => {
    const options = { gateway: first.gateway, baseUrls };
    const flows = await startGatewayFlows(options);
    const listening = await startGatewayFlows({ ...options, endpoints });
    // Payouts that wait for their review cost nothing after the response.
    const created = await createUnderLoad(flows, ms, () => Promise.resolve());
    const { perSecond } = await runLifecycles(flows, 'payout', ms);
    const delivered = await deliverAll(receiver, () => listening.create('payout'), ms);
    await Promise.all([flows.stop(), listening.stop()]);
    const rates = [created['payouts/s'] ?? NaN, perSecond, delivered['deliveries/s'] ?? NaN];
    const cells = [String(processes), ...rates.map((rate) => rate.toFixed(1))];
    log(`scale: ${cells.join(', ')}`);
    lines.push(`| ${cells.join(' | ')} |`);
  };
  const { baseUrl, env } = first.gateway;
  await runLifecycles(first, 'payout', ms);
  await measure(1, [baseUrl]);
  const second = await startSecond(first.gateway);
  await measure(2, [baseUrl, second.baseUrl]);
  await second.stop();
  await first.stop();
  await receiver.stop();
  return [
    '| Processes of each | Created/s | Completed/s | Deliveries/s |',
    '| ---: | ---: | ---: | ---: |',
    ...lines,
  ].join('\n');

  async function startSecond(gateway: OwnGateway) {
    const api = await startSecondApi(gateway);
    const worker = new ChildProgram('worker', env);
    await worker.start();
    return {
      baseUrl: api.baseUrl,
      stop: async () => {
        await Promise.all([api.stop(), worker.stop()]);
      },
    };
  }
}
