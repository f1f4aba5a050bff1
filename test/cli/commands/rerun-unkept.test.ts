import { expect, it } from 'vitest';
import { localService } from '../../../src/main.ts';
import { runInProcess } from '../../support/context.ts';
import { Project } from '../testing/support.ts';

it("says once why a run can't be repeated, and where its creation may still be kept", async () => {
  const { home } = new Project({});
  const runId = '01890000-0000-7000-8000-000000000000';
  const { exitCode, stderr } = await runInProcess(['runs', 'rerun', runId], { home, local: localService });
  expect(exitCode).toBe(4);
  expect(stderr()).toContain(
    `error: run ${runId} can't be run again: there is no such run (NOT_FOUND_ERROR)\n` +
      'If it was saved with --save: promptrun runs rerun ./<runId>.json\n',
  );
});
