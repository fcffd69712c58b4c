/**
 * The statements of a month as a PDF, a page for each currency. The same statements make the same bytes, so that
 * two copies can be compared.
 */
import type PDFKit from 'pdfkit';
import type { Owner } from '../../domain/mode';
import { monthBounds, type Statement } from '../../domain/statement';
import { grouped, type StatementLine, statementLines } from './statement';

export interface StatementHead extends Owner {
  owner: string;
  /** The host of the gateway. */
  issuer: string;
  /** The time that the statements reach to, while their month is not over. */
  until: Date | null;
}

const FONTS = {
  plain: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf'),
  bold: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf'),
};

const [LEFT, RIGHT] = [50, 545];
const GREY = '#5a6275';
const LINE_HEIGHT = 22;
/** The place of the last line of a page of A4, above its margin. */
const FOOT = 770;

/** The columns by their right edges; the name has the room to the left of them. */
const COLUMNS = [
  { title: 'Postings', right: 205, of: ({ postings }: StatementLine) => String(postings ?? '') },
  { title: 'Available', right: 318, of: ({ available }: StatementLine) => grouped(available) },
  { title: 'Reserved', right: 431, of: ({ reserved }: StatementLine) => grouped(reserved) },
  { title: 'Total', right: RIGHT, of: ({ total }: StatementLine) => grouped(total) },
] as const;

/** @param statements of one month, in the order of the pages; at least one */
export async function statementPdf(
  statements: readonly Statement[],
  head: StatementHead,
): Promise<Buffer> {
  const month = statements[0]?.month ?? '';
  // It is large, and most processes never make a statement.
  const { default: PDFDocument } = await import('pdfkit');
  const document = new PDFDocument({
    ...{ size: 'A4', margin: LEFT, autoFirstPage: false, lang: 'en' },
    info: {
      Title: `Statement ${month}`,
      Author: head.owner,
      // The date is that of the month's end and not of the download, so that the bytes stay the same.
      CreationDate: monthBounds(month).to,
    },
  });
  const parts: Buffer[] = [];
  document.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise((resolve) => document.once('end', resolve));
  statements.forEach((statement, index) => {
    drawPage(document, statement, head);
    drawFoot(document, head, `${month}, page ${index + 1} of ${statements.length}`);
  });
  document.end();
  await ended;
  return Buffer.concat(parts);
}

type Drawn = InstanceType<typeof PDFKit>;

function drawPage(document: Drawn, statement: Statement, head: StatementHead): void {
  document.addPage();
  document.font(FONTS.bold).fontSize(18).fillColor('black');
  document.text(`Statement ${statement.month}`, LEFT, 60);
  document.font(FONTS.plain).fontSize(10).text(head.owner, LEFT, 88);
  document.fillColor(GREY).text(`${head.accountId} · ${head.mode} mode · ${statement.currency}`);
  let top = document.y + 24;
  drawTitles(document, top);
  for (const line of statementLines(statement)) {
    top += LINE_HEIGHT;
    drawLine(document, line, top);
  }
  top += 2 * LINE_HEIGHT;
  document.font(FONTS.bold).fontSize(11).fillColor('black').text('Fees', LEFT, top);
  document.font(FONTS.plain).fontSize(9).fillColor(GREY);
  document.text('Included in the amounts above.', LEFT, top + 16);
  document.fillColor('black');
  const fees = [
    ['Service fees', statement.serviceFees],
    ['Network fees', statement.networkFees],
  ] as const;
  fees.forEach(([name, amount], index) => {
    const y = top + 36 + index * 16;
    document.text(name, LEFT, y);
    alignRight(document, `${grouped(amount)} ${statement.currency}`, RIGHT, y);
  });
}

function drawFoot(document: Drawn, { issuer, until }: StatementHead, page: string): void {
  const reach =
    until === null ? 'The month is over.' : `The month is not over: until ${minute(until)}.`;
  document.font(FONTS.plain).fillColor(GREY).fontSize(8);
  document.text(`Issued by ${issuer}. ${reach} All times are UTC.`, LEFT, FOOT, {
    lineBreak: false,
  });
  alignRight(document, page, RIGHT, FOOT);
}

function minute(at: Date): string {
  return at.toISOString().slice(0, 16).replace('T', ' ');
}

function drawTitles(document: Drawn, top: number): void {
  document.font(FONTS.plain).fontSize(8).fillColor(GREY).text('Movement', LEFT, top);
  for (const { title, right } of COLUMNS) alignRight(document, title, right, top);
}

function drawLine(document: Drawn, line: StatementLine, top: number): void {
  document
    .moveTo(LEFT, top - 7)
    .lineTo(RIGHT, top - 7)
    .lineWidth(0.5)
    .strokeColor('#e3e8ee');
  document.stroke().font(line.postings === null ? FONTS.bold : FONTS.plain);
  document.fontSize(8).fillColor('black').text(line.name, LEFT, top);
  for (const { right, of } of COLUMNS) alignRight(document, of(line), right, top);
}

function alignRight(document: Drawn, text: string, right: number, top: number): void {
  document.text(text, right - document.widthOfString(text), top, { lineBreak: false });
}

/** The name of the file. */
export function statementFileName(month: string, currency?: string): string {
  return ['statement', month, ...(currency === undefined ? [] : [currency])].join('-') + '.pdf';
}
