/** The chats of the operators. */
import type { Chats } from '../services/chats';
import { chatRoutes } from '../web/chats';
import type { Once } from '../web/once';
import { signInAgain } from '../web/site';
import { type OperatorRoute, type OperatorVisit, PREFIX } from './operator-page';

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
