import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { killAtEachStep } from '../support/chaos/provider-batch-kills.ts';

const ROWS = Number(process.env['CHAOS_ROWS'] ?? 10_000);

/**
 * Runs a large batch at a provider with the command killed at each step
 * (`npm run bench provider-batch`; CHAOS_ROWS changes it). Fails if a row was lost or paid for
 * twice.
 */
export default async function soakProviderBatches(): Promise<void> {
  for (const engine of ['openai', 'anthropic'] as const) {
    const home = mkdtempSync(path.join(tmpdir(), 'promptrun-soak-'));
    const startedAt = Date.now();
    try {
      const { starts, exitCode, batches, wrong, lines, bill, cost } = await killAtEachStep(
        engine,
        ROWS,
        home,
      );

      const seconds = Math.round((Date.now() - startedAt) / 1000);
      process.stdout.write(
        `${engine}: ${ROWS} rows, ${starts} starts, exit ${exitCode}; batches of ${batches.join(' and ')} rows; ` +
          `${lines} lines, ${wrong.length} wrong or lost; billed $${bill}, told $${cost}; ${seconds} s\n`,
      );
      const isRight =
        exitCode === 0 && batches.join() === `${ROWS}` && lines === ROWS && bill === cost;
      if (!isRight || wrong.length > 0) process.exitCode = 1;
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
}
