/** A name server of a test's own, on UDP: it answers A and AAAA as the test says, or not at all. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { addressBytes } from '../../../src/platform/lib/cidr';

/** Addresses (none: the name has no record of the kind), or trouble. */
export type DnsAnswer = readonly string[] | 'silence' | 'no such name' | 'server failure';
export type RecordKind = 'A' | 'AAAA';
/** @param nth how often this name and kind was asked before */
export type AnswerQuestion = (name: string, kind: RecordKind, nth: number) => DnsAnswer;

export interface DnsStub {
  /** The address, in the form of the sender's `dnsServers`. */
  server: string;
  /** `A shop.example`, in the order of arrival. */
  questions: string[];
  close: () => Promise<void>;
}

const KINDS = new Map<number, RecordKind>([
  [1, 'A'],
  [28, 'AAAA'],
]);
const HEADER_BYTES = 12;
const RESPONSE_CODES = { 'server failure': 2, 'no such name': 3 } as const;

export async function startDnsStub(answer: AnswerQuestion): Promise<DnsStub> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, peer) => {
    const { name, kind, end } = readQuestion(query);
    const nth = questions.filter((asked) => asked === `${kind} ${name}`).length;
    questions.push(`${kind} ${name}`);
    const answers = answer(name, kind, nth);
    if (answers !== 'silence') socket.send(respond(query.subarray(0, end), answers), peer.port);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    questions,
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; kind: RecordKind; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    kind: KINDS.get(query.readUInt16BE(at + 1))!,
    // Behind the closing zero: kind and class, two bytes each.
    end: at + 5,
  };
}

/** The question again, with records that point to its name. */
function respond(question: Buffer, answers: Exclude<DnsAnswer, 'silence'>): Buffer {
  const records = typeof answers === 'string' ? [] : answers.map(recordOf);
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  const code = typeof answers === 'string' ? RESPONSE_CODES[answers] : 0;
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(records.length, 6);
  // No authority, nothing additional, whatever the question brought.
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(HEADER_BYTES), ...records]);
}

function recordOf(address: string): Buffer {
  const bytes = addressBytes(address)!;
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(bytes.length === 4 ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}
