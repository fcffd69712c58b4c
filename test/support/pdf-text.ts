/** The text of a PDF, read by pdf.js in a process of its own: it is a module, which jest does not load. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const READ = `
const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs');
const parts = [];
for await (const part of process.stdin) parts.push(part);
const data = new Uint8Array(Buffer.concat(parts));
const pdf = await getDocument({ data, verbosity: 0 }).promise;
const pages = [];
for (let number = 1; number <= pdf.numPages; number += 1) {
  const { items } = await (await pdf.getPage(number)).getTextContent();
  pages.push(items.map(({ str }) => str).filter((str) => str.trim() !== ''));
}
console.log(JSON.stringify(pages));
`;

/** @returns the texts of each page, in the order in which they were written */
export async function readPdf(pdf: Buffer): Promise<string[][]> {
  const reading = promisify(execFile)(process.execPath, ['--input-type=module', '-e', READ]);
  reading.child.stdin?.end(pdf);
  return JSON.parse((await reading).stdout) as string[][];
}
