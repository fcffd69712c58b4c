/**
 * The log of a process, on standard output. A write for each line would be a large part of what a read
 * costs. So lines are written together: after 4 KiB or a quarter of a second, at once with a warning or
 * an error, and when the process exits. Only a process that is killed loses lines.
 */
import { type Logger, pino } from 'pino';
import { traceFields } from './trace';

const BUFFERED_BYTES = 4_096;
const WRITE_EVERY_MS = 250;
const WARN = 40;

/**
 * The members that PostgreSQL adds to an error: whole rows, with destinations and references, and the
 * statement. They must not be logged; the constraint, the table and the code may be.
 */
const WITH_VALUES = ['detail', 'where', 'hint', 'internalQuery', 'query', 'parameters', 'bindings'];

/** Every logger of the gateway has these serializers. Temporal's SDK logs errors as `error`. */
export const LOG_SERIALIZERS = { err: errorFields, error: errorFields };

function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fields = Object.entries(pino.stdSerializers.errWithCause(error)).map(
    ([name, value]): [string, unknown] => [
      name,
      name === 'cause' ? errorFields(error.cause) : value,
    ],
  );
  return Object.fromEntries(fields.filter(([name]) => !WITH_VALUES.includes(name)));
}

export function createLogger(name: string, level: string): Logger {
  const output = pino.destination({
    minLength: BUFFERED_BYTES,
    periodicFlush: WRITE_EVERY_MS,
    sync: false,
  });
  const options = {
    name,
    level,
    serializers: LOG_SERIALIZERS,
    mixin: traceFields,
    hooks: {
      logMethod(args: Parameters<pino.LogFn>, log: pino.LogFn, of: number): void {
        log.apply(this, args);
        if (of >= WARN) output.flush();
      },
    },
  } satisfies pino.LoggerOptions;
  return pino(options, output);
}
