/** Guards of what providers send. */
import type { Guard } from '../guard';

const CALLBACKS = 'test/unit/providers/callbacks.test.ts';
const RECEIVE = 'src/shell/api/provider-callbacks.ts';

export const CALLBACK_GUARDS: readonly Guard[] = [
  {
    name: 'callback-signature-onchain',
    protects: 'A callback without the on-chain provider’s signature wakes nothing.',
    file: 'src/adapters/providers/onchain/callback.ts',
    find: "if (!isSameSignature(Buffer.from(signature, 'hex'), expected)) return null;",
    replace: '',
    test: CALLBACKS,
    title: 'refuses another secret',
  },
  {
    name: 'callback-signature-exchange-pay',
    protects: 'A callback without Exchange Pay’s signature wakes nothing.',
    file: 'src/adapters/providers/exchange-pay/callback.ts',
    find: 'if (!isSameSignature(Buffer.from(signature), Buffer.from(expected))) return null;',
    replace: '',
    test: CALLBACKS,
    title: 'refuses another secret',
  },
  {
    name: 'callback-body',
    protects: 'The signature of a callback is over its exact bytes.',
    file: 'src/adapters/providers/onchain/callback.ts',
    find: '.update(`${seconds}.`).update(rawBody).digest();',
    replace: ".update(`${seconds}.`).update(rawBody.toString('utf8').trim()).digest();",
    test: CALLBACKS,
    title: 'refuses a body with one byte more than was signed',
  },
  {
    name: 'callback-replay',
    protects: 'A recorded callback is refused after five minutes.',
    file: 'src/adapters/providers/callback-check.ts',
    find: 'return ageMs <= CALLBACK_TOLERANCE_MS && ageMs >= -CALLBACK_TOLERANCE_MS;',
    replace: 'return ageMs !== CALLBACK_TOLERANCE_MS;',
    test: CALLBACKS,
    title: 'with a time',
  },
  {
    name: 'callback-header-once',
    protects: 'A header that is sent twice is no signature.',
    file: 'src/adapters/providers/callback-check.ts',
    find: "return typeof value === 'string' ? value : null;",
    replace: 'return value === undefined ? null : [value].flat()[0]!;',
    test: CALLBACKS,
    title: 'refuses every header that is missing, repeated, cut or empty',
  },
  {
    name: 'callback-mode',
    protects: 'A callback of one mode or provider reaches no payout of another.',
    file: RECEIVE,
    find: 'if (payout?.provider !== provider.code || payout.mode !== mode) return;',
    replace: 'if (payout === null) return;',
    test: 'test/e2e/payments/callbacks.test.ts',
    title: 'a callback of one mode or provider does not reach a payout of another',
  },
  {
    name: 'callback-forged',
    protects: 'A callback whose signature is wrong is answered with an error, and changes nothing.',
    file: RECEIVE,
    find: "if (hint === null) throw new ApiError({ code: 'invalid_signature' });",
    replace: 'if (hint === null) return;',
    test: 'test/e2e/payments/callbacks.test.ts',
    title: 'are refused and change nothing',
  },
  {
    name: 'callback-limited-provider',
    protects:
      'A provider that limits us has not said that a transfer is missing: no case is opened.',
    file: RECEIVE,
    find: "    case 'limited':\n    case 'unknown':\n      return null;",
    replace:
      "    case 'limited':\n      return 'not_found';\n    case 'unknown':\n      return null;",
    test: 'test/e2e/payments/callbacks.test.ts',
    title: 'leaves the callback for later and opens no case: ',
  },
];
