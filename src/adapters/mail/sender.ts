/**
 * Sends a mail through SMTP and tells three outcomes apart, because a mail is sent at most once: the server has
 * taken it, it certainly has not, or its answer was lost after the text was sent.
 */
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import { Readable } from 'node:stream';

export interface MailConfig {
  /** Such as smtps://login:password@mail.example.com */
  smtpUrl: string;
  from: string;
  /** Whether a server without TLS is refused, unless the URL allows it. */
  requiresTls: boolean;
}

export interface MailFile {
  filename: string;
  content: Buffer;
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The Message-ID, which is the same in each attempt. */
  messageId: string;
  attachments?: MailFile[];
}

export type MailOutcome =
  | { kind: 'sent' }
  /** The server did not take the mail. A later attempt can succeed. */
  | { kind: 'postponed'; error: string }
  /** The server did not take the mail and never will. */
  | { kind: 'refused'; error: string }
  /** The server may have taken the mail. */
  | { kind: 'unclear'; error: string };

export interface MailSender {
  send(mail: Mail): Promise<MailOutcome>;
}

/** Together they are shorter than the activity's time limit. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

export function createMailSender({ smtpUrl, from, requiresTls }: MailConfig): MailSender {
  return {
    send: async (mail) => {
      const composed = new MailComposer({ ...mail, from, headers: AUTOMATIC }).compile();
      const bytes = await composed.build();
      const options = { requireTLS: requiresTls, ...parseConnectionUrl(smtpUrl), ...TIMEOUTS };
      return sendOnce(options, composed.getEnvelope(), bytes);
    },
  };
}

/** These headers ask for no out-of-office answers. */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

function sendOnce(
  { auth, ...options }: SMTPConnection.Options,
  envelope: SMTPConnection.Envelope,
  bytes: Buffer,
): Promise<MailOutcome> {
  const connection = new SMTPConnection(options);
  return new Promise<MailOutcome>((resolve) => {
    let isTextSent = false;
    const fail = (error: SMTPConnection.SMTPError) => {
      resolve(outcomeOf(error, isTextSent));
    };
    // The server asks for the text after it has accepted the sender and the recipient.
    const text = Readable.from(
      (function* () {
        isTextSent = true;
        yield bytes;
      })(),
    );
    const send = () => {
      connection.send(envelope, text, (error) => {
        if (error) fail(error);
        else resolve({ kind: 'sent' });
      });
    };
    connection.once('error', fail);
    connection.connect((error) => {
      if (error) fail(error);
      else if (auth === undefined) send();
      else {
        // A URL has a login and a password, and nothing else.
        connection.login(auth as SMTPConnection.Credentials, (refused) => {
          if (refused) fail(refused);
          else send();
        });
      }
    });
  }).finally(() => {
    // A late error has no listener otherwise.
    connection.on('error', () => undefined);
    connection.quit();
    connection.close();
  });
}

/** The server's own answer decides; without one, whether the text was sent. */
function outcomeOf(
  { code, command, responseCode, message }: SMTPConnection.SMTPError,
  isTextSent: boolean,
): MailOutcome {
  // The server's words can repeat the recipient's address.
  const error = [code, command, responseCode].filter(Boolean).join(' ') || message.slice(0, 100);
  if (responseCode !== undefined) {
    // The operator has to correct wrong credentials, so the mail waits.
    const isForGood = responseCode >= 500 && code !== 'EAUTH';
    return { kind: isForGood ? 'refused' : 'postponed', error };
  }
  return { kind: isTextSent ? 'unclear' : 'postponed', error };
}
