/** What the pages of a refund say while the customer has not named its address, and the link that asks for it. */
import { Alert, Secret, Time } from '../../../kit/pages/components';
import { PREFIX } from '../../../kit/pages/merchant-page';
import type { RefundMail } from '../refund-addresses';

export function refundLink(dashboardUrl: string, token: string): string {
  return `${dashboardUrl}${PREFIX}/refund-address?token=${token}`;
}

const MAIL_TEXTS: Record<RefundMail['status'], string> = {
  waiting: 'The mail with the link has not been sent yet',
  sending: 'The mail with the link is being sent',
  sent: 'The link was mailed',
  refused: 'The mail server refused the mail with the link',
  unclear: 'The mail with the link may have been sent: the mail server did not answer',
  dropped: 'The mail with the link was not sent',
};

/** @param mail null if none was written, because the address is unknown or the mode is test */
export function RefundMailText({ mail }: { mail: RefundMail | null }) {
  if (mail === null) return <>No mail was written to the customer.</>;
  return (
    <>
      {MAIL_TEXTS[mail.status]}: <span class="break">{mail.email}</span>,{' '}
      <Time at={mail.updatedAt} />.
    </>
  );
}

/** The link of a moment ago; it is stored nowhere. */
export function NewRefundLink({ link }: { link: string | null }) {
  if (link === null) return null;
  return (
    <Alert tone="good" title="Send this link to the customer now. It is not shown again.">
      <p>Whoever has it decides where the money goes. It works once, and replaces earlier links.</p>
      <Secret value={link} label="Copy link" />
    </Alert>
  );
}
