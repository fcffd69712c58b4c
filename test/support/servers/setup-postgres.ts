/** jest globalSetup of the project `db`: only PostgreSQL, so that it starts in a second. */
import { startTestServices } from './start-services';

export default async function setUpPostgres(): Promise<void> {
  await startTestServices(['postgres']);
}
