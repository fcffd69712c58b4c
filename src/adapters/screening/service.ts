/**
 * The screening service over HTTP (docs/screening.md): one question about one destination. Everything
 * but an answer about this question, in the documented form, is no answer.
 */
import { lookUp, readMember, readText } from '../providers/answer-reader';
import type { Limited, Unknown } from '../providers/port';
import {
  createProviderAgent,
  createProviderCaller,
  statusSentence,
} from '../providers/provider-http';
import type { ScreeningSubject, Verdict } from '../../domain/screening';
import { storableText } from '../../platform/lib/storable-text';

export interface ServiceAnswer {
  kind: 'answer';
  verdict: Verdict;
  reference: string | null;
  reasons: string[];
}

/** The port to a screening service. */
export interface ScreeningService {
  ask(subject: ScreeningSubject): Promise<ServiceAnswer | Limited | Unknown>;
  /** Drops the open connections. */
  close(): Promise<void>;
}

export interface ScreeningConfig {
  url: string;
  apiKey: string;
  timeoutMs: number;
}

const WHO = 'The screening service';
const REASONS_MAX = 20;
const REASON_LENGTH_MAX = 500;

const VERDICT_WORDS: Readonly<Record<string, Verdict>> = {
  clear: 'clear',
  review: 'review',
  block: 'block',
};

export function createScreeningService(config: ScreeningConfig): ScreeningService {
  const agent = createProviderAgent();
  const call = createProviderCaller(agent, config.timeoutMs, WHO);
  const headers = {
    authorization: `Bearer ${config.apiKey}`,
    accept: 'application/json',
    'content-type': 'application/json',
  };
  return {
    ask: async (subject) => {
      const body = JSON.stringify(presentQuestion(subject));
      const answer = await call({ method: 'POST', url: config.url, headers, body });
      if (answer.kind !== 'answer') return answer;
      if (answer.status !== 200) return noAnswer(statusSentence(answer.status, WHO));
      return readAnswer(answer.body, subject);
    },
    close: () => agent.close(),
  };
}

function presentQuestion({ objectId, mode, destination, network, beneficiary }: ScreeningSubject) {
  return {
    reference: objectId,
    mode,
    destination: { type: destination.type, value: destination.value, network },
    beneficiary,
  };
}

function readAnswer(body: unknown, subject: ScreeningSubject): ServiceAnswer | Unknown {
  if (readMember(body, 'reference') !== subject.objectId) {
    return noAnswer(`${WHO} answered about another reference.`);
  }
  // Exactly as it was asked: a service that changes an address may have looked at another one.
  if (readMember(body, 'destination') !== subject.destination.value) {
    return noAnswer(`${WHO} answered about another destination.`);
  }
  const verdict = lookUp(VERDICT_WORDS, readText(body, 'verdict'));
  if (verdict === undefined) return noAnswer(`${WHO} answered with an unknown verdict.`);
  const reasons = readReasons(readMember(body, 'reasons'));
  return { kind: 'answer', verdict, reference: readText(body, 'id') ?? null, reasons };
}

/** Evidence for an operator. What cannot be read does not change the verdict. */
function readReasons(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((reason): reason is string => typeof reason === 'string')
    .slice(0, REASONS_MAX)
    .map((reason) => storableText(reason.slice(0, REASON_LENGTH_MAX)));
}

function noAnswer(reason: string): Unknown {
  return { kind: 'unknown', reason };
}
