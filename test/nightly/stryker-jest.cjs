/** The unit tests of the files that stryker.json changes, with jest's own environment: Stryker adds its own to that. */
const { projects } = require('../../jest.config.js');

const {
  displayName: _name,
  runtime: _ours,
  ...unit
} = projects.find(({ displayName }) => displayName === 'unit');
const FILES =
  'batch-terms|fees|ledger|limits|money|payment-pricing|payment-refunds|refund-terms|review';

module.exports = {
  ...unit,
  testEnvironment: 'node',
  testMatch: [`<rootDir>/test/unit/domain/(${FILES}).test.ts`],
};
