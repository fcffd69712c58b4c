/** Links to signed records that anyone can check without the gateway. */
import { Card } from './components';
import { Icon } from './icon';

/** Of a payout. */
export function Dossier({ href }: { href: string }) {
  return (
    <Card title="Evidence">
      <p class="muted">
        The dossier has the request, decisions, postings, submission, events and audit entries of
        this payout, signed. <code>payments-gateway verify-dossier</code> checks it without the
        gateway. <a href="/docs/guides/evidence">How it is checked</a>
      </p>
      <div>
        <a class="btn" data-variant="outline" href={href} download>
          <Icon name="download" /> Download dossier
        </a>
      </div>
    </Card>
  );
}
