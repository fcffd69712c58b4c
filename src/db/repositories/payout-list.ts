/** Lists of payouts, newest first, by keyset (decision W13). */
import type { Mode } from '../../domain/mode';
import type { Payout, PayoutFilters } from '../../domain/payout';
import { PayoutModel } from '../models/payout';
import { type ListPage, newestFirst } from './newest-first';
import type { Db } from '../transaction';

export interface PayoutListQuery {
  accountId: string;
  mode: Mode;
  limit: number;
  after: { createdAt: string; id: string } | null;
  filters: PayoutFilters;
}

export function listPayouts(db: Db, query: PayoutListQuery): Promise<ListPage<Payout>> {
  return newestFirst<Payout>(db, PayoutModel, 'payouts', query);
}
