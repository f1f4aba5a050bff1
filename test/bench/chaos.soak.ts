import path from 'node:path';
import { runChaosBatch } from '../support/chaos/chaos-batch.ts';

const ROWS = Number(process.env['CHAOS_ROWS'] ?? 10_000);
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);

const LARGE = {
  command: path.resolve('bin/promptrun.js'),
  rows: ROWS,
  kills: 6,
  lagMs: 2000,
  skewMs: -420_000,
  diesEvery: 700,
};

const CASES = [
  { title: 'idempotency keys kept', idempotency: true, others: 0.1, exclusive: false },
  {
    title: 'not kept, a second client on the same key',
    idempotency: false,
    others: 0.1,
    exclusive: false,
  },
  { title: "not kept, the key is nobody else's", idempotency: false, others: 0, exclusive: true },
];

/**
 * Runs a large batch on a service that misbehaves in every way (`npm run chaos`; CHAOS_ROWS and
 * CHAOS_SEED change it). Fails if anything was doubled, wrong or lost.
 */
export default async function soakChaos(): Promise<void> {
  let harmless = true;
  for (const [index, { title, ...more }] of CASES.entries()) {
    const startedAt = Date.now();
    const { stderr: _, ...verdict } = await runChaosBatch({
      ...LARGE,
      ...more,
      seed: SEED + index,
    });
    const { succeeded, failed, inDoubt, doubles, wrong, lost, unnamed, starts, lists } = verdict;
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    process.stdout.write(
      `${title}: ${ROWS} rows, ${succeeded} succeeded, ${failed} failed, ${inDoubt} in doubt; ` +
        `${doubles.length} doubles, ${wrong.length} wrong, ${lost.length} lost, ${unnamed.length} unnamed; ` +
        `${starts} starts, ${lists} lists, ${seconds} s\n`,
    );

    for (const harm of [...doubles, ...wrong, ...lost, ...unnamed]) {
      process.stdout.write(`  ${harm}\n`);
    }

    const isDoubtful = more.idempotency && inDoubt > 0;
    harmless &&= doubles.length + wrong.length + lost.length + unnamed.length === 0 && !isDoubtful;
  }
  if (!harmless) process.exitCode = 1;
}
