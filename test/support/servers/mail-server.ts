/** A real SMTP server that keeps what it takes, and can refuse recipients or hold its answer. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  to: string[];
  /** The whole message, with quoted-printable line ends removed. */
  source: string;
}

export interface MailServer {
  url: string;
  port: number;
  mails: ReceivedMail[];
  /** The answer to each recipient from now on; null: accepted. */
  refuseWith(code: number | null): void;
  /** What happens after a text was received, before its answer. */
  beforeAnswer(work: (() => Promise<void>) | null): void;
  stop(): Promise<void>;
}

export async function startMailServer(port = 0): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let refusal: number | null = null;
  let before: (() => Promise<void>) | null = null;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo: (_, __, answer) => {
      if (refusal === null) answer();
      else answer(Object.assign(new Error('no mailbox here'), { responseCode: refusal }));
    },
    onData: (stream, session, answer) => {
      void text(stream).then(async (source) => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, source: source.replaceAll('=\r\n', '').replaceAll('=3D', '=') });
        await before?.();
        answer();
      });
    },
  });
  // A client that hangs up is no fault of the server.
  server.on('error', () => undefined);
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    port: address.port,
    mails,
    refuseWith: (code) => {
      refusal = code;
    },
    beforeAnswer: (work) => {
      before = work;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };
}
