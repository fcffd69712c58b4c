/** The public keys of evidence, without authentication: whoever has a dossier or a head can check it. */
import type Router from '@koa/router';
import { type EvidenceKey, keyIdOf } from '../../platform/lib/evidence-key';
import type { GatewayState } from '../../kit/api/context';

export function signingKeyRoutes(
  router: Router<GatewayState>,
  current: EvidenceKey | null,
  earlier: readonly string[],
): void {
  const shown = (publicKey: string, status: 'current' | 'earlier') => ({
    object: 'signing_key',
    key_id: keyIdOf(publicKey),
    algorithm: 'Ed25519',
    public_key: publicKey,
    status,
  });
  const data = [
    ...(current === null ? [] : [shown(current.publicKey, 'current')]),
    ...earlier.map((publicKey) => shown(publicKey, 'earlier')),
  ];
  router.get('/api/v1/signing_keys', (ctx) => {
    ctx.body = { data };
  });
}
