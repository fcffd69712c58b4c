/** Signals as a client would send them that is not ours: any bytes in any encoding. */
import { type PayoutCase, whenDetails } from '../support/payout/payout-case';
import type { WorkflowWorld } from '../support/servers/workflow-world';

export interface RawPayload {
  metadata: Record<string, Buffer>;
  data?: Buffer;
}

export async function signalRaw(
  { temporal }: WorkflowWorld,
  { id }: PayoutCase,
  signalName: string,
  payloads: RawPayload[],
): Promise<void> {
  await temporal.workflowService.signalWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId: id },
    signalName,
    input: { payloads },
  });
}

export function payload(encoding: string | null, data?: string): RawPayload {
  return {
    metadata: encoding === null ? {} : { encoding: Buffer.from(encoding) },
    ...(data === undefined ? {} : { data: Buffer.from(data) }),
  };
}

export const json = (value: unknown) => payload('json/plain', JSON.stringify(value));

/** What is wrong with it, its name and input, and what the remark says. */
export type UnusableSignal = [what: string, name: string, input: RawPayload[], text: string];

/** The number that a workflow's page shows. */
const REMARKS_SHOWN = 5;

/** Groups of what one page can show, each with a title. */
export function byPage(signals: UnusableSignal[]): [string, UnusableSignal[]][] {
  const pages = Math.ceil(signals.length / REMARKS_SHOWN);
  return Array.from({ length: pages }, (_, page) => {
    const shown = signals.slice(page * REMARKS_SHOWN, (page + 1) * REMARKS_SHOWN);
    return [shown.map(([what]) => what).join(', '), shown];
  });
}

/** Sends them one after the other. @returns their remarks, which are as expected */
export async function expectRemarks(
  world: WorkflowWorld,
  object: PayoutCase,
  signals: UnusableSignal[],
): Promise<string[]> {
  for (const [, name, input] of signals) await signalRaw(world, object, name, input);
  const all = new RegExp(`Remarks:(\\s+- [^\\n]+){${signals.length}}`);
  const page = await whenDetails(object, all);
  const blocks = page.split('\n\n');
  const remarks = blocks[blocks.indexOf('Remarks:') + 1]!.split('\n');
  expect(remarks).toEqual(signals.map(([, , , text]) => expect.stringContaining(text)));
  return remarks;
}
