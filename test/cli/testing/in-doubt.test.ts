import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runInProcess, temporaryDirectory } from '../../support/context.ts';
import { scriptedServiceForTest, success } from '../../support/scripted-service.ts';
import { hastyClock, serviceEnv } from '../batch/support.ts';

const VERSION = randomUUID();

it('says how to run a case again whose creation may have made a run, and never does it unasked', async () => {
  const service = await scriptedServiceForTest(
    {
      expect: { method: 'GET', path: `/prompt-versions/${VERSION}` },
      answer: success({
        promptVersionId: VERSION,
        promptId: randomUUID(),
        title: 't',
        publishedAt: '',
        config: {},
      }),
      times: 'any',
    },
    {
      expect: { method: 'GET', path: '/runs' },
      answer: success({ rows: [], hasMore: false }),
      times: 'any',
    },
    { expect: { method: 'POST', path: '/runs' }, answer: 'reset-after-body' },
  );
  const home = temporaryDirectory();
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'a.test.yaml'), `target: ${VERSION}\ncases: [{ inputs: { name: Ada } }]\n`);
  const env = serviceEnv(service.baseUrl);
  for (const more of [[], ['--resume']]) {
    const { exitCode, stdout } = await runInProcess(['test', '-q', ...more], {
      home,
      env,
      clock: hastyClock(),
    });
    expect([exitCode, stdout()]).toEqual([1, expect.stringContaining('--resume --retry-unknown')]);
    expect(stdout()).toContain('the answer to the creation was lost');
  }
});
