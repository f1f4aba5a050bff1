import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { startScriptedService, success } from '../support/scripted-service.ts';
import { isPosix } from '../support/system.ts';

describe('a run on the embedded service', () => {
  it('of a prompt file is of what the file says now', async () => {
    const home = createTemporaryDirectory();
    const prompt = (words: string): void =>
      writeFileSync(path.join(home, 'say.prompt'), `---\nmodel: echo\n---\n${words} {{topic}}\n`);
    prompt('About');
    const first = await runCommand(['run', './say.prompt', '-i', 'topic=tea'], { home });

    expect({ code: first.code, stdout: first.stdout }).toEqual({ code: 0, stdout: 'About tea\n' });

    prompt('More about');
    const second = await runCommandHere(['run', 'say.prompt', '-i', 'topic=tea'], { home });

    expect({ code: second.code, stdout: second.stdout }).toEqual({
      code: 0,
      stdout: 'More about tea\n',
    });

    prompt('{{#if');
    const third = await runCommandHere(['run', 'say.prompt', '-i', 'topic=tea'], { home });

    expect(third.code).toBe(EXIT.usage);
    expect(third.stderr).toMatch(/^error: \S*say\.prompt:\d+: /m);
  });

  it('prints a picture as a file that outlives the command, and which can be saved later', async () => {
    const home = createTemporaryDirectory();
    const { stdout } = await runCommand(['run', 'postcard', '-i', 'place=Oslo'], { home });

    expect(stdout).toMatch(/^file:\/\/\/\S+\/media\/\S+\.png\n$/);
    expect(readFileSync(new URL(stdout.trim())).subarray(1, 4).toString()).toBe('PNG');

    const { stdout: runId } = await runCommandHere(['runs', 'list', '--query', '[0].runId'], {
      home,
    });
    const saved = await runCommandHere(['runs', 'save', runId.trim(), '--to', 'pictures'], {
      home,
    });

    expect({ code: saved.code, stdout: saved.stdout }).toEqual({
      code: 0,
      stdout: `${path.join('pictures', `${runId.trim()}-1.png`)}\n`,
    });

    const picture = readFileSync(path.join(home, 'pictures', `${runId.trim()}-1.png`));
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
  });
});

describe('a run whose command is cut off', () => {
  it.runIf(isPosix).each(['SIGTERM', 'SIGKILL'] as const)(
    'by %s is in doubt: the run that may be its own is named, and can be waited for',
    async signal => {
      const home = createTemporaryDirectory();
      const service = await startScriptedService([
        {
          expect: { method: 'POST', path: '/runs' },
          answer: () => {
            running.child.kill(signal);
            return 'silence';
          },
        },
        {
          expect: { method: 'GET', path: '/runs' },
          times: 'any',
          answer: () => success({ rows: [row(new Date())], hasMore: false }),
        },
        { expect: { path: `/runs/${RUN}` }, answer: success(run) },
      ]);
      onTestFinished(() => service.close());
      const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' };
      const running = startCommand(['run', VERSION], { home, env });

      const { code, stderr } = await running.ended;
      if (signal === 'SIGTERM') {
        expect(code).toBe(EXIT.terminated);
        expect(stderr).toContain('promptrun runs list --since ');
      }

      const journal = await runCommandHere(['runs', 'journal', '--query', '[].inDoubt'], {
        home,
        env,
      });
      expect(JSON.parse(journal.stdout)).toEqual([true]);

      const waited = await runCommandHere(['runs', 'wait', '--last'], { home, env });
      expect({ code: waited.code, stdout: waited.stdout }).toEqual({
        code: EXIT.fault,
        stdout: '',
      });
      expect(waited.stderr).toContain(`promptrun runs wait ${RUN}`);

      const byId = await runCommandHere(['runs', 'wait', RUN], { home, env });
      expect({ code: byId.code, stdout: byId.stdout }).toEqual({
        code: 0,
        stdout: 'Still here.\n',
      });

      service.verify();
    },
  );
});

const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const RUN = '5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';

const run = {
  runId: RUN,
  runStatus: 'succeeded',
  tokens: 1,
  outputs: [{ type: 'text', data: 'Still here.' }],
};

function row(createdAt: Date): object {
  return {
    ...run,
    promptVersionId: VERSION,
    credits: 1,
    runName: 'x',
    createdAt: createdAt.toISOString(),
  };
}
