/** The chats of an account, in the mode of the page. */
import type { Chats } from '../services/chats';
import { createEndpoint } from '../services/webhook-endpoints';
import { chatRoutes } from '../web/chats';
import type { Once } from '../web/once';
import { type MerchantRoute, type MerchantVisit, PREFIX } from './merchant-page';

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
