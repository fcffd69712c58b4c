/** jest globalTeardown of every project with servers. It prints nothing: the report comes last. */
import { stopTestServices } from './start-services';

export default async function tearDown(): Promise<void> {
  await stopTestServices();
}
