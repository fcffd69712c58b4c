/** The unit tests of the files that stryker.json changes, with jest's own environment: Stryker adds its own to that. */
const { projects } = require('../../jest.config.js');

const unit = { ...projects.find(({ displayName }) => displayName === 'unit') };
delete unit.displayName;
delete unit.runtime;
const FILES =
  'batch-terms|fees|ledger|limits|money|payment-pricing|payment-refunds|refund-terms|review';

module.exports = {
  ...unit,
  testEnvironment: 'node',
  testMatch: [`<rootDir>/test/unit/domain/(${FILES}).test.ts`],
};
