/** The chats of an account, in the mode of the page. */
import type { Chats } from '../chats';
import { createEndpoint } from '../../webhooks/webhook-endpoints';
import { chatRoutes } from '../pages/chats';
import type { Once } from '../../../kit/pages/once';
import { type MerchantRoute, type MerchantVisit, PREFIX } from '../../../kit/pages/merchant-page';

export function chatPages(chats: Chats, once: Once): MerchantRoute[] {
  const pathOf = ({ base }: MerchantVisit) => `${base}/chats`;
  return chatRoutes<MerchantVisit>({
    ...{ kind: 'merchant', chats, once, pathOf, back: `${PREFIX}/notifications` },
    ownerOf: ({ accountId, mode }) => ({ accountId, mode }),
    byOf: ({ by }) => by,
  }).map(({ recent, ...route }) => ({
    ...route,
    // Whoever may create a webhook endpoint may add a chat.
    ...createEndpoint.access,
    ...(recent === undefined ? {} : { liveRecent: recent }),
  }));
}
