/**
 * typebox as one file. It comes as 700 small ES modules, which take 0.4 s to load: more than all other packages
 * of a program together.
 *
 * `node src/dev/bundle-typebox.js <FOLDER>`, for `npm run build`, `npm start` and the tests: <FOLDER>
 * becomes a package that stands for typebox for the programs beside or below it.
 */
const { mkdirSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join, resolve } = require('node:path');
const { buildSync } = require('esbuild');

/** What the project imports, by the name of its file there. One bundle has all, because they share state. */
const MODULES = {
  index: 'typebox',
  compile: 'typebox/compile',
  schema: 'typebox/schema',
  system: 'typebox/system',
  value: 'typebox/value',
};

const folder = process.argv[2];
if (folder === undefined) throw new Error('Usage: node src/dev/bundle-typebox.js <FOLDER>');
// A program finds the whole package or none, also while two runs make it.
const made = `${folder}.${process.pid}`;
mkdirSync(made, { recursive: true });
buildSync({
  stdin: {
    contents: Object.entries(MODULES)
      .map(([file, module]) => `export * as ${file} from '${module}';`)
      .join('\n'),
    resolveDir: resolve(__dirname, '../..'),
  },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  outfile: join(made, 'all.js'),
});
for (const file of Object.keys(MODULES)) {
  writeFileSync(join(made, `${file}.js`), `module.exports = require('./all.js').${file};\n`);
}
rmSync(folder, { recursive: true, force: true });
try {
  renameSync(made, folder);
} catch (error) {
  if (error.code !== 'ENOTEMPTY') throw error;
  // Another run was faster, and made the same.
  rmSync(made, { recursive: true });
}
