/** `payments-gateway balance`. */
import type { Command } from './command';
import { connect } from './connection';
import { printMany, printOne } from './output';

const COLUMNS = {
  CURRENCY: 'currency',
  AVAILABLE: 'available',
  RESERVED: 'reserved',
  PENDING: 'pending',
};

export const BALANCE: Command = {
  name: 'balance',
  summary: 'Shows what is available, reserved and pending in each currency',
  connects: true,
  options: {},
  examples: ['balance', 'balance --profile live --json'],
  run: async ({ values, signal, asJson }) => {
    const balance = await connect(values).client.balance.get({ signal });
    if (asJson) printOne(balance, true);
    else printMany(balance.balances, COLUMNS, false);
  },
};
