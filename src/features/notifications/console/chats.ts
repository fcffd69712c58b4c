/** The chats of the operators. */
import type { Chats } from '../chats';
import { chatRoutes } from '../pages/chats';
import type { Once } from '../../../kit/pages/once';
import { signInAgain } from '../../../kit/pages/site';
import { type OperatorRoute, type OperatorVisit, PREFIX } from '../../../kit/pages/operator-page';

export function chatPages(chats: Chats, once: Once): OperatorRoute[] {
  const path = `${PREFIX}/chats`;
  return chatRoutes<OperatorVisit>({
    ...{ kind: 'operator', chats, once, pathOf: () => path, back: `${PREFIX}/notifications` },
    ownerOf: () => null,
    byOf: ({ by }) => by,
  }).map(({ recent, run, ...route }) => ({
    ...route,
    needs: 'administer',
    run: (visit) => (recent === undefined ? null : signInAgain(visit, recent(visit))) ?? run(visit),
  }));
}
