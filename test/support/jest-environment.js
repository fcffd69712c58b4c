/**
 * The environment of every test file: the process itself. jest's own environment has a context of its own, whose
 * globals are behind a proxy, so that code takes many times as long (a QR code 394 s instead of 6), and `instanceof` is
 * false for what comes from Node. What a file changes of the process is put back after it.
 */
const { appendFileSync } = require('node:fs');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * jest waits half a second for its workers to end, and calls a longer end a leak; on a busy machine the heap of a
 * worker, half a gigabyte, takes longer to be taken down. The process has nothing left to do when it comes here by itself.
 */
if (process.send) process.once('exit', () => process.kill(process.pid, 'SIGKILL'));

const OF_PROCESS = ['exit', 'getBuiltinModule'];

module.exports = class ProcessEnvironment {
  constructor({ projectConfig }, { testPath }) {
    this.global = globalThis;
    this.file = `${projectConfig.displayName?.name} ${testPath.slice(projectConfig.rootDir.length + 1)}`;
    this.before = {
      cpu: process.cpuUsage(),
      env: { ...process.env },
      console,
      process: OF_PROCESS.map((name) => [name, process[name]]),
      globals: Object.keys(projectConfig.globals).map((name) => [name, globalThis[name]]),
    };
    Object.assign(globalThis, projectConfig.globals);
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    const { env, process: ofProcess, globals } = this.before;
    this.fakeTimersModern.dispose();
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    Object.assign(process, Object.fromEntries(ofProcess));
    Object.assign(globalThis, Object.fromEntries(globals), { console: this.before.console });
    this.#logCpu();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Not null, which means a file that has ended; jest-runtime.js uses no context. */
  getVmContext() {
    return this.global;
  }

  /** With TEST_CPU_LOG, a line for each file: the seconds of CPU that its process took, without its servers. */
  #logCpu() {
    const log = process.env.TEST_CPU_LOG;
    if (log === undefined) return;
    const { user, system } = process.cpuUsage(this.before.cpu);
    appendFileSync(log, `${((user + system) / 1e6).toFixed(1)} ${this.file}\n`);
  }
};
