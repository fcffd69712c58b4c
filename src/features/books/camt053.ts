/**
 * A statement as banks send it: camt.053.001.08 of ISO 20022, the bank-to-customer statement. It has five decimals and currencies
 * of three letters. So each amount is the difference of two rounded balances, which makes the entries add up to the closing
 * balance exactly, and another currency is XXX, the code of ISO 4217 for none.
 */
import type { ExportedPosting } from '../../db/books/exports';
import type { StoredLine } from '../../domain/ledger';
import { add, type Amount, isLess, roundTo, subtract, ZERO } from '../../domain/money';

const DECIMALS = 5;

export interface BankStatement {
  id: string;
  accountId: string;
  /** "USDT, live mode" */
  name: string;
  currency: string;
  from: Date;
  to: Date;
  /** Available and reserved together. */
  opening: Amount;
  closing: Amount;
}

export async function* camt053File(
  statement: BankStatement,
  pages: AsyncIterable<readonly ExportedPosting[]>,
): AsyncGenerator<string> {
  const money = moneyIn(statement.currency);
  yield headOf(statement, money);
  let balance = statement.opening;
  for await (const postings of pages) {
    let text = '';
    for (const posting of postings) {
      const change = changeOf(posting.lines);
      // A reservation moves money within the balance.
      if (change === ZERO) continue;
      const before = roundTo(DECIMALS, balance);
      balance = add(balance, change);
      text += entryOf(posting, money(subtract(roundTo(DECIMALS, balance), before), change));
    }
    if (text !== '') yield text;
  }
  if (balance !== statement.closing) {
    throw new Error(`the statement ends with ${balance}, and the balance is ${statement.closing}`);
  }
  yield '</Stmt></BkToCstmrStmt></Document>\n';
}

type Money = (amount: Amount, sign?: Amount) => string;

/** XXX is the code for a currency that ISO 4217 does not have. */
function codeOf(currency: string): string {
  return /^[A-Z]{3}$/.test(currency) ? currency : 'XXX';
}

/** @returns an amount with its direction, which is that of `sign` */
function moneyIn(currency: string): Money {
  const code = codeOf(currency);
  return (amount, sign = amount) => {
    const size = isLess(amount, ZERO) ? subtract(ZERO, amount) : amount;
    const direction = isLess(sign, ZERO) ? 'DBIT' : 'CRDT';
    return `<Amt Ccy="${code}">${size.slice(0, -3)}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`;
  };
}

function headOf(statement: BankStatement, money: Money): string {
  const { id, accountId, name, currency, from, to, opening, closing } = statement;
  const balance = (code: string, amount: Amount, at: Date) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${money(roundTo(DECIMALS, amount))}<Dt><DtTm>${at.toISOString()}</DtTm></Dt></Bal>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
<GrpHdr><MsgId>${text(id, 35)}</MsgId><CreDtTm>${to.toISOString()}</CreDtTm></GrpHdr>
<Stmt><Id>${text(id, 35)}</Id><CreDtTm>${to.toISOString()}</CreDtTm>
<FrToDt><FrDtTm>${from.toISOString()}</FrDtTm><ToDtTm>${to.toISOString()}</ToDtTm></FrToDt>
<Acct><Id><Othr><Id>${text(accountId, 34)}</Id></Othr></Id><Ccy>${codeOf(currency)}</Ccy><Nm>${text(name, 70)}</Nm></Acct>
${balance('OPBD', opening, from)}${balance('CLBD', closing, to)}`;
}

function entryOf(posting: ExportedPosting, money: string): string {
  const { id, type, postedAt, reference, txHash, description } = posting;
  const notes = [reference, txHash].filter((note) => note !== null && note !== '');
  const details = notes.map((note) => `<Ustrd>${text(note ?? '', 140)}</Ustrd>`).join('');
  return `<Ntry><NtryRef>${id}</NtryRef>${money}<Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>${postedAt.toISOString()}</DtTm></BookgDt><BkTxCd><Prtry><Cd>${type}</Cd></Prtry></BkTxCd>${
    details === '' ? '' : `<NtryDtls><TxDtls><RmtInf>${details}</RmtInf></TxDtls></NtryDtls>`
  }<AddtlNtryInf>${text(description, 500)}</AddtlNtryInf></Ntry>\n`;
}

function changeOf(lines: readonly StoredLine[]): Amount {
  return lines
    .filter(({ account }) => account === 'available' || account === 'reserved')
    .reduce<Amount>(
      (sum, { direction, amount }) =>
        direction === 'in' ? add(sum, amount) : subtract(sum, amount),
      ZERO,
    );
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Characters that XML does not have become U+FFFD. */
function text(given: string, length: number): string {
  const known = given.replace(
    /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu,
    '\uFFFD',
  );
  const shown = Array.from(known).slice(0, length).join('').trim();
  return shown === '' ? '-' : shown.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign);
}
