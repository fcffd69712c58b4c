/**
 * jest's loader of modules, for jest-environment.js: code runs in the process's own context, and packages are loaded
 * by Node, once for each process. jest loads them again for each file, which takes longer than most tests.
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { compileFunction } = require('node:vm');
const { transformSync } = require('@swc/core');
const { default: Runtime } = require('jest-runtime');

/** jest's own modules keep what is of one file. */
const OF_JEST = /^(@jest\/|jest-|expect$)/;
const requires = new Map();
/** The functions of the files that this process has loaded, by path: each file of tests runs them anew. */
const compiled = new Map();

function compile(source, filename, parameters) {
  const known = compiled.get(filename);
  if (known?.source === source) return known.run;
  const run = compileFunction(source, parameters, { filename });
  compiled.set(filename, { source, run });
  return run;
}

/** What a package loads by its path, such as the payload converter. */
require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
    swcrc: false,
  });
  module._compile(code, filename);
};

module.exports = class ProcessRuntime extends Runtime {
  constructor(config, ...rest) {
    super(config, ...rest);
    const { injectedModuleParameters } = this.executor;
    this.executor.compile = (source, filename) =>
      compile(source, filename, injectedModuleParameters);
    this.replaced = config.moduleNameMapper.map(([pattern]) => new RegExp(pattern));
  }

  requireModuleOrMock(from, name) {
    const isPackage = !/^[./]|^node:/.test(name) && !OF_JEST.test(name);
    if (!isPackage || this.replaced.some((pattern) => pattern.test(name))) {
      return super.requireModuleOrMock(from, name);
    }
    const known = requires.get(from) ?? createRequire(from);
    requires.set(from, known);
    return known(name);
  }
};
