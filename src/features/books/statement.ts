/** The lines of a monthly statement, for its page and its PDF. */
import { add, type Amount } from '../../domain/money';
import type { Held, Statement } from '../../domain/statement';
import { words } from '../../kit/service/words';

export interface StatementLine {
  name: string;
  /** Null for a balance. */
  postings: number | null;
  available: Amount;
  reserved: Amount;
  total: Amount;
}

export function statementLines({ opening, movements, closing }: Statement): StatementLine[] {
  return [
    lineOf('Opening balance', null, opening),
    ...movements.map((movement) => lineOf(words(movement.type), movement.postings, movement)),
    lineOf('Closing balance', null, closing),
  ];
}

function lineOf(
  name: string,
  postings: number | null,
  { available, reserved }: Held,
): StatementLine {
  return { name, postings, available, reserved, total: add(available, reserved) };
}

/** The amount with commas between thousands and all decimals. */
export function grouped(amount: Amount): string {
  const [whole = '', decimals = ''] = amount.split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',').replace('-', '−')}.${decimals}`;
}
