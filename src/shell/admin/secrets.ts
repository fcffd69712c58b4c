/** `admin secrets`: what depends on KEY_PEPPER and WEBHOOK_SECRET_KEY while they are changed. */
import type { Command } from '@commander-js/extra-typings';
import { pepperIdOf } from '../../platform/lib/api-key-secret';
import { listSecretUses, type SecretUse } from '../../features/webhooks/secrets';
import type { Run } from '../../kit/admin/context';
import { addNoun, readVerb, runList } from '../../kit/admin/options';

export function addSecrets(admin: Command, run: Run): void {
  const secrets = addNoun(admin, 'secrets', 'The secrets that the gateway stores others with.');
  runList(
    run,
    readVerb(secrets, 'list', {
      summary: 'Show how many API keys and stored secrets depend on which pepper and key',
      notes:
        'A value can be removed when nothing depends on it. API keys change to the current pepper when they\n' +
        'are used; `webhooks reseal` changes stored secrets to the current key. Values are shown as ids.',
      examples: ['secrets list', 'secrets list --json'],
    }),
    async ({ db, pepper, webhooks }) => {
      const { keyId } = webhooks().secretBox;
      const uses = await listSecretUses(db, { keyId, pepperId: pepperIdOf(pepper()) });
      return uses.map(presentUse);
    },
    ['name', 'id', 'state', 'used', 'next_step'],
    'Nothing is stored yet.',
  );
}

function presentUse({ name, id, isCurrent, used }: SecretUse) {
  const nextStep =
    name === 'WEBHOOK_SECRET_KEY'
      ? 'run `webhooks reseal`, then remove it'
      : 'remove it when its keys were used, rotated or revoked';
  return {
    object: 'secret_use',
    name,
    id,
    state: isCurrent ? 'current' : id === null ? 'unknown' : 'not current',
    used,
    next_step: isCurrent ? null : nextStep,
  };
}
