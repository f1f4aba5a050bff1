import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { runChaosBatch } from '../support/chaos/chaos-batch.ts';
import { COMMAND } from '../support/command.ts';

const SMALL = {
  command: COMMAND,
  seed: 7,
  rows: 200,
  kills: 2,
  lagMs: 300,
  skewMs: -420_000,
  diesEvery: 90,
};

const NO_HARM = { doubles: [], wrong: [], lost: [], unnamed: [] };

describe('200 rows on a service that resets, lags, dies and answers wrongly, the client killed twice', () => {
  it('all end and none is in doubt if the service keeps idempotency keys', async () => {
    const verdict = await runChaosBatch({
      ...SMALL,
      idempotency: true,
      others: 0.1,
      exclusive: false,
    });
    expect(verdict).toMatchObject({
      ...NO_HARM,
      succeeded: 200,
      failed: 0,
      inDoubt: 0,
      exitCode: 0,
    });
  });

  it("no row is paid twice or gets another row's run if the service keeps no keys and a second client uses the same API key", async () => {
    const verdict = await runChaosBatch({
      ...SMALL,
      idempotency: false,
      others: 0.1,
      exclusive: false,
    });
    expect(verdict).toMatchObject({ ...NO_HARM, exitCode: EXIT.runFailed });
    expect(verdict.succeeded + verdict.failed + verdict.inDoubt).toBe(200);
  });

  it('none is paid twice if runs may be adopted from the list', async () => {
    const verdict = await runChaosBatch({
      ...SMALL,
      idempotency: false,
      others: 0,
      exclusive: true,
    });
    expect(verdict).toMatchObject({ ...NO_HARM, exitCode: EXIT.runFailed });
    expect(verdict.succeeded + verdict.failed + verdict.inDoubt).toBe(200);
  });
});
