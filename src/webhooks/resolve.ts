/**
 * The addresses of a receiver's name, asked anew for each attempt and kept nowhere.
 *
 * Not `dns.lookup`: that runs on four threads shared by the whole process, and one dead name server
 * would hold them for everybody. A resolver of its own for each attempt can be cancelled alone.
 */
import { Resolver } from 'node:dns/promises';
import { AttemptFailure, codeOf } from './attempt-failure';

export interface ResolveSettings {
  dnsServers: readonly string[] | undefined;
  dnsMs: number;
}

const TRIES = 2;
/** No receiver needs more, and each one is an address that we might call. */
const ADDRESSES_MAX = 16;
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);

/** @throws AttemptFailure `dns_error` */
export async function resolveName(
  name: string,
  { dnsServers, dnsMs }: ResolveSettings,
  deadline: AbortSignal,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: Math.ceil(dnsMs / TRIES), tries: TRIES });
  if (dnsServers !== undefined) resolver.setServers(dnsServers);
  const cancel = (): void => resolver.cancel();
  const timer = setTimeout(cancel, dnsMs);
  deadline.addEventListener('abort', cancel, { once: true });
  try {
    return readAnswers(
      name,
      await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]),
    );
  } finally {
    clearTimeout(timer);
    deadline.removeEventListener('abort', cancel);
  }
}

/**
 * One family's silence does not spoil the other's answer: what was not learned is not called, and
 * name servers that know A records only and keep quiet about AAAA exist.
 */
function readAnswers(name: string, answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  if (addresses.length > ADDRESSES_MAX) {
    throw failure(`The name ${name} has more than ${ADDRESSES_MAX} addresses.`);
  }
  if (addresses.length > 0) return addresses;
  const codes = answers.map((answer) =>
    answer.status === 'rejected' ? codeOf(answer.reason) : '',
  );
  if (codes.every((code) => code === '' || NO_SUCH_NAME.has(code))) {
    throw failure(`The name ${name} does not resolve to an address.`);
  }
  if (codes.some((code) => ['ETIMEOUT', 'ECANCELLED'].includes(code))) {
    throw failure(`The name servers of ${name} did not answer in time.`);
  }
  throw failure(`The name ${name} could not be resolved (${codes.join(', ')}).`);
}

function failure(sentence: string): AttemptFailure {
  return new AttemptFailure('dns_error', sentence);
}
