/** Makes contracts.json from TestContracts.sol; see README.md. */
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');

// The compiler is no dependency of the project: it comes from the current folder.
const solc = createRequire(join(process.cwd(), 'package.json'))('solc');

const input = {
  language: 'Solidity',
  sources: {
    'TestContracts.sol': { content: readFileSync(join(__dirname, 'TestContracts.sol'), 'utf8') },
  },
  settings: {
    // Without the metadata hash the bytecode depends on the source's meaning alone.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'paris',
    outputSelection: { 'TestContracts.sol': { '*': ['abi', 'evm.bytecode.object'] } },
  },
};
const readImport = (path) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));

const contracts = Object.fromEntries(
  Object.entries(output.contracts['TestContracts.sol']).map(([name, { abi, evm }]) => [
    name,
    { abi, bytecode: `0x${evm.bytecode.object}` },
  ]),
);
writeFileSync(join(__dirname, 'contracts.json'), `${JSON.stringify(contracts)}\n`);
