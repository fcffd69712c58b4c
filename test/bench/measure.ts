/** Measures the two sides of a row in turns: A B A B. */
import { type Line, linesOf, type Round } from './report';
import type { Row, Setting } from './row';

const LENGTHS = {
  full: { rounds: 5, roundMs: 5_000, warmUpMs: 5_000 },
  quick: { rounds: 2, roundMs: 1_000, warmUpMs: 1_000 },
};

export async function measureRow(row: Row, setting: Setting): Promise<Line[]> {
  const { rounds: usual, roundMs, warmUpMs } = LENGTHS[setting.isQuick ? 'quick' : 'full'];
  setting.log(`${row.name}: preparing`);
  const contest = await row.prepare(setting);
  try {
    const rounds: Round[] = [];
    const count = row.rounds ?? usual;
    if (contest.bare !== null) {
      await contest.gateway.measure(warmUpMs);
      await contest.bare.measure(warmUpMs);
    }
    while (rounds.length < count) {
      const gateway = await contest.gateway.measure(roundMs);
      const bare = (await contest.bare?.measure(roundMs)) ?? null;
      rounds.push({ gateway, bare });
      setting.log(`${row.name} ${rounds.length}/${count}: ${JSON.stringify({ gateway, bare })}`);
    }
    return linesOf(row, rounds);
  } finally {
    await contest.stop();
  }
}
