/**
 * Routes from operations: method, path, scope, query and Idempotency-Key stand in the operation alone
 * (operation.ts), and a feature adds what answers. An operation without a handler does not compile.
 */
import type { Middleware } from 'koa';
import type { GatewayMiddleware, GatewayState } from './context';
import { idempotent } from './idempotency-key';
import { noQuery } from './no-query';
import { IDEMPOTENCY_KEY, type Operation } from './operation';

export interface Route {
  operation: Operation;
  /** What follows authentication, in order (decisions/api#order-of-checks). */
  steps: readonly GatewayMiddleware[];
}

/** A handler behind the steps that read and check the body. */
interface BodyHandler {
  read: readonly GatewayMiddleware[];
  answer: GatewayMiddleware;
}

/** @param steps the last one answers; those before it check more than the body's form */
export function withBody<Request>(
  read: Middleware<GatewayState & { request: Request }>,
  ...steps: Middleware<GatewayState & { request: Request }>[]
): BodyHandler {
  const all = [read, ...steps] as GatewayMiddleware[];
  return { read: all.slice(0, -1), answer: all.at(-1) as GatewayMiddleware };
}

export function bind<Id extends string>(
  operations: readonly (Operation & { id: Id })[],
  handlers: Readonly<Record<Id, GatewayMiddleware | BodyHandler>>,
): Route[] {
  return operations.map((operation) => {
    const handler: GatewayMiddleware | BodyHandler = handlers[operation.id];
    const { read, answer } = 'read' in handler ? handler : { read: [], answer: handler };
    const hasQuery = operation.parameters.some((parameter) => parameter.in === 'query');
    const isCreation = operation.parameters.includes(IDEMPOTENCY_KEY);
    const steps = [
      ...read,
      ...(hasQuery ? [] : [noQuery]),
      ...(isCreation ? [idempotent()] : []),
      answer,
    ];
    return { operation, steps };
  });
}
