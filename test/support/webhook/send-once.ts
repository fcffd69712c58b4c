/**
 * One attempt by a process of its own, for tests of what the environment must not change: within
 * jest, variables that a test sets are not seen by Node itself. Arguments: the URL, the settings.
 */
import type { SenderSettings } from '../../../src/adapters/webhooks/sender';
import { attempt, outcomeOf } from './sender-steps';

const [url = '', settings = ''] = process.argv.slice(2);
void attempt(url, JSON.parse(settings) as Partial<SenderSettings>).then((result) => {
  console.log(JSON.stringify(outcomeOf(result)));
});
