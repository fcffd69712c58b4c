/**
 * jest globalSetup of the projects that run workflows. jest runs each setup module once and only
 * for the selected projects, so PostgreSQL may be there already.
 */
import { startTestServices } from './start-services';

export default async function setUpAll(): Promise<void> {
  const postgresRuns = process.env['TEST_POSTGRES_URL'] !== undefined;
  await startTestServices(postgresRuns ? ['temporal'] : ['postgres', 'temporal']);
}
