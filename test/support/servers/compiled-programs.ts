/**
 * The gateway's programs as JavaScript. A program starts in half the time that it takes with a
 * loader, and the tests start some hundred of them.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFile } from '@swc/core';

const ROOT = join(__dirname, '../../..');
/** What the pages read beside their code. */
const ASSETS = 'src/kit/pages/assets';
const ROOMS = ['src', 'workflows', 'activities', 'clients/typescript/src'];
/** Inside the project, so that the programs find its packages. */
const CACHE = join(ROOT, 'node_modules/.cache');

/**
 * @param rooms what is compiled
 * @returns the folder that stands for the project's; the caller removes it
 */
export async function compilePrograms(rooms: readonly string[] = ROOMS): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'gateway-test-'));
  const files = rooms.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(room, file)),
  );
  await Promise.all(files.map((file) => compile(file, folder)));
  cpSync(join(ROOT, ASSETS), join(folder, ASSETS), { recursive: true });
  // The API serves the guides.
  symlinkSync(join(ROOT, 'docs'), join(folder, 'docs'));
  return folder;
}

async function compile(file: string, folder: string): Promise<void> {
  const { code } = await transformFile(join(ROOT, file), {
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript', tsx: file.endsWith('.tsx') },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
      target: 'es2022',
    },
    module: { type: 'commonjs' },
    // Reading a map for each file would take a quarter of a program's start.
    sourceMaps: false,
  });
  const target = join(folder, file.replace(/\.tsx?$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}
