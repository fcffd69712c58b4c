/**
 * The rules that guard money need types: a payout call without `await`, a promise where a
 * function is expected, a status that a switch forgets, an amount that becomes a number.
 * Layout is prettier's, layers are dependency-cruiser's, unused code is knip's.
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

const DURATIONS_ARE_MONOTONIC =
  'The clock of the machine can step. Measure a duration with performance.now(); for a time that others ' +
  'read, take wallClockMs() of src/platform/lib/wall-clock.ts, or PostgreSQL’s time.';

module.exports = defineConfig(
  globalIgnores(['dist/', 'coverage/', '.gateway/', '**/*.min.js']),
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: __dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafePromises: [{ from: 'file', name: 'SentWithNext' }] },
      ],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
    },
  },
  {
    files: MONEY_ROOMS,
    rules: { 'no-restricted-syntax': ['error', ...NUMBER_FROM_TEXT] },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'activities/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: DURATIONS_ARE_MONOTONIC },
      ],
    },
  },
  {
    // Tests read answers whose shape they are about to check.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
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
    files: ['*.js', 'src/dev/chain/*.js', 'test/support/*.js', '.dependency-cruiser.js'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: Object.fromEntries(
        ['require', 'module', '__dirname', 'process', 'console'].map((name) => [name, 'readonly']),
      ),
    },
  },
);
