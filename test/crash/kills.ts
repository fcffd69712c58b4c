/** Kills of the programs and servers of one gateway, one after the other, each of which starts again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../support/seeded-random';
import type { OwnGateway } from '../support/servers/gateway';
import type { MortalServers } from '../support/chaos/mortal-servers';

/** Those that are killed at the same moment; `connections` are those to PostgreSQL, as a failover ends them. */
const VICTIMS = [
  ['worker'],
  ['api'],
  ['connections'],
  ['temporal'],
  ['postgres'],
  ['worker', 'api'],
] as const;

/** Kills each of the victims once before any of them again. */
export async function killAgainAndAgain(
  { worker, api, db }: Pick<OwnGateway, 'worker' | 'api' | 'db'>,
  servers: Pick<MortalServers, 'postgres' | 'temporal'>,
  dice: Dice,
  { kills, pauseMs = 2_000, awayMs = 1_500 }: { kills: number; pauseMs?: number; awayMs?: number },
): Promise<void> {
  let left: (typeof VICTIMS)[number][] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(300 + dice.roll(pauseMs));
    if (left.length === 0) left = [...VICTIMS];
    const victims = left.splice(dice.roll(left.length), 1).flat();
    const mortals = victims
      .filter((name) => name !== 'connections')
      .map((name) => ({ worker, api, ...servers })[name]);
    if (mortals.length < victims.length) await endConnections(db);
    await Promise.all(mortals.map((mortal) => mortal.kill()));
    await sleep(dice.roll(awayMs));
    await Promise.all(mortals.map((mortal) => mortal.start()));
  }
}

async function endConnections(db: OwnGateway['db']): Promise<void> {
  await db.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'gateway-%'`);
}
