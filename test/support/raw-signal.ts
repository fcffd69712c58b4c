/** Signals as a client would send them that is not ours: any bytes in any encoding. */
import type { PayoutCase } from './payout-case';
import type { WorkflowWorld } from './workflow-world';

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
