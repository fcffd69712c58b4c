/** A free port for a server that a test starts. */
export { findFreePort } from '../../src/dev/ports';
