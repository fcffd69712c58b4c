/** Fee rules for tests: written with the owner's rights, without the checks that operators meet. */
import { insertFeeRule } from '../../src/db/accounts/fee-rules';
import type { Db } from '../../src/db/transaction';
import type { Direction } from '../../src/domain/fees';
import { amount } from '../../src/domain/money';
import type { ProviderCode } from '../../src/domain/provider-codes';

export interface FeeRuleWish {
  accountId: string | null;
  direction?: Direction;
  provider?: ProviderCode;
  currency?: string;
  percentage?: string;
  fixed?: string;
  min?: string | null;
  max?: string | null;
  /** Seconds from now. */
  from?: number;
  until?: number | null;
}

const orNull = (text: string | null | undefined) =>
  typeof text === 'string' ? amount(text) : null;
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);

export async function addFeeRule(db: Db, wish: FeeRuleWish): Promise<void> {
  await db.transaction((tx) =>
    insertFeeRule(tx, {
      accountId: wish.accountId,
      direction: wish.direction ?? 'payout',
      provider: wish.provider ?? 'onchain_provider',
      currency: wish.currency ?? 'USDT',
      percentage: wish.percentage ?? '2.0000',
      fixedAmount: amount(wish.fixed ?? '0'),
      minFee: orNull(wish.min),
      maxFee: orNull(wish.max),
      validFrom: inSeconds(wish.from ?? -60),
      validUntil: typeof wish.until === 'number' ? inSeconds(wish.until) : null,
    }),
  );
}
