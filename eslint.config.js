/**
 * What oxlint (.oxlintrc.json), which has the rules that need types, cannot do: rules about syntax where amounts pass,
 * and the files of JavaScript. Layout is prettier's, layers are dependency-cruiser's, unused code is knip's.
 */
const js = require('@eslint/js');
const { defineConfig, globalIgnores } = require('eslint/config');
const tseslint = require('typescript-eslint');

/** Amounts pass through these rooms; a JavaScript number would round them. */
const MONEY_ROOMS = [
  'domain/**',
  'db/**',
  'features/*',
  'kit/{api,service}/**',
  'adapters/providers/**',
]
  .map((room) => `src/${room}/*.ts`)
  .concat('activities/**/*.ts', 'workflows/**/*.ts');

const MONEY_IS_TEXT =
  'Money is text: calculate with src/domain/money.ts, keep amounts as strings. A count or a port ' +
  'comes in as a number through the contract of a feature or through src/shell/config.ts.';

const NUMBER_FROM_TEXT = [
  'CallExpression[callee.name=/^(Number|parseFloat|parseInt)$/]',
  'NewExpression[callee.name="Number"]',
  'CallExpression[callee.object.name="Number"][callee.property.name=/^parse(Float|Int)$/]',
  'CallExpression[callee.property.name="map"] > Identifier[name=/^(Number|parseFloat|parseInt)$/]',
  'UnaryExpression[operator="+"]',
].map((selector) => ({ selector, message: MONEY_IS_TEXT }));

module.exports = defineConfig(
  globalIgnores(['dist/', 'coverage/', '.gateway/', '**/*.min.js']),
  { files: ['**/*.js'], ...js.configs.recommended },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    // They are for oxlint.
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    plugins: { '@typescript-eslint': tseslint.plugin },
  },
  {
    files: MONEY_ROOMS,
    rules: { 'no-restricted-syntax': ['error', ...NUMBER_FROM_TEXT] },
  },
  {
    files: ['src/kit/pages/assets/*.js'],
    languageOptions: {
      sourceType: 'script',
      globals: Object.fromEntries(
        [
          'document',
          'navigator',
          'localStorage',
          'matchMedia',
          'print',
          'setTimeout',
          'setInterval',
          'clearTimeout',
          'fetch',
          'DOMParser',
          'Element',
          'FormData',
          'TextDecoder',
          'URLSearchParams',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: [
      '*.js',
      'src/dev/{,chain/}*.js',
      'test/{support,nightly}/*.js',
      '.dependency-cruiser.js',
    ],
    languageOptions: {
      sourceType: 'commonjs',
      globals: Object.fromEntries(
        ['require', 'module', '__dirname', 'process', 'console'].map((name) => [name, 'readonly']),
      ),
    },
  },
);
