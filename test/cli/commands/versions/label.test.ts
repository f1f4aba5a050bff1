import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  createTemporaryDirectory,
  runInProcess,
  type TestOptions,
} from '../../../support/context.ts';
import { runWithScript } from '../../../support/run-with-script.ts';
import { failure } from '../../../support/scripted-service.ts';

/** Publishes two versions of the prompt `summary` in a new home directory. */
async function createMachine() {
  const home = createTemporaryDirectory();
  const promptrun = async (argv: readonly string[], options: TestOptions = {}) => {
    const { exitCode, stdout, stderr } = await runInProcess(argv, {
      home,
      local: localService,
      ...options,
    });
    return { exitCode, stdout: stdout(), stderr: stderr() };
  };

  const versions: string[] = [];
  for (const text of ['One', 'Two']) {
    const file = path.join(home, 'summary.prompt');
    writeFileSync(file, `---\nmodel: echo\n---\n${text} {{x}}`);
    const { stdout } = await promptrun(['prompts', 'publish', file, '--json']);
    versions.push((JSON.parse(stdout) as [{ promptVersionId: string }])[0].promptVersionId);
  }

  const [first = '', second = ''] = versions;
  return { home, promptrun, first, second };
}

describe('versions label', () => {
  it('sets and moves a label, by which the version runs', async () => {
    const { promptrun, first, second } = await createMachine();
    const labelled = await promptrun([
      'versions',
      'label',
      'summary',
      first.slice(0, 8),
      'production',
    ]);

    expect(labelled).toMatchObject({
      exitCode: 0,
      stdout: `summary@production points to ${first}\n`,
    });

    const run = ['run', 'summary@production', '-i', 'x=1'];
    expect((await promptrun(run)).stdout).toBe('One 1\n');

    const moved = await promptrun(['versions', 'label', 'summary', second, 'production']);
    expect(moved.stdout).toContain(`${second}, no longer to ${first}`);
    expect((await promptrun(run)).stdout).toBe('Two 1\n');

    const { stdout } = await promptrun(['versions', 'list', 'summary']);
    expect(stdout.split('\n')[0]).toMatch(
      /latest\tproduction\tproduction moved from \w{8} by local 20/,
    );
  });

  it('replays the version to which the label pointed when it was recorded', async () => {
    const { home, promptrun, first, second } = await createMachine();
    const rec = path.join(home, 'rec');
    const run = ['run', 'summary@stable', '-i', 'x=1'];
    await promptrun(['versions', 'label', 'summary', first, 'stable']);
    await promptrun([...run, '--record', rec]);
    await promptrun(['versions', 'label', 'summary', second, 'stable']);

    expect((await promptrun([...run, '--replay', rec])).stdout).toBe('One 1\n');
    expect((await promptrun(run)).stdout).toBe('Two 1\n');
  });

  it('accepts a label as the version of versions label and versions diff', async () => {
    const { promptrun, first } = await createMachine();
    await promptrun(['versions', 'label', 'summary', first, 'staging']);
    const set = await promptrun(['versions', 'label', 'summary', 'staging', 'production']);
    expect(set.stdout).toBe(`summary@production points to ${first}\n`);
    const { stdout } = await promptrun(['versions', 'diff', 'summary', 'production']);
    expect(stdout).toContain('\n- One {{x}}\n+ Two {{x}}\n');
  });

  it('finds versions that the list no longer shows by their labels and whole ids', async () => {
    const { home, promptrun, first } = await createMachine();
    await promptrun(['versions', 'label', 'summary', first, 'old']);

    const file = path.join(home, 'summary.prompt');
    for (let count = 3; count < 13; count += 1) {
      writeFileSync(file, `---\nmodel: echo\n---\nText ${count} {{x}}`);
      await promptrun(['prompts', 'publish', file]);
    }

    const { promptId, promptVersionId: latest } = JSON.parse(
      (await promptrun(['prompts', 'get', 'summary', '--json'])).stdout,
    ) as { promptId: string; promptVersionId: string };
    const names = [
      ['summary', 'old'],
      [promptId, 'old'],
      ['summary', first],
      ['summary@old'],
      [first],
      [latest, 'old'],
    ];
    for (const name of names) {
      const { stdout } = await promptrun(['versions', 'diff', ...name]);
      expect(stdout, name.join(' ')).toContain('\n- One {{x}}\n+ Text 12 {{x}}\n');
    }

    const unlisted = await promptrun(['versions', 'diff', 'summary', first.slice(0, 8)]);
    expect(unlisted.stderr).toContain('An older version needs its whole id.');
    expect(unlisted.exitCode).toBe(EXIT.notFound);

    const set = await promptrun(['versions', 'label', 'summary', 'old', 'older']);
    expect(set.stdout).toBe(`summary@older points to ${first}\n`);
  });

  it('removes a label, and reports a label that does not exist', async () => {
    const { promptrun, first } = await createMachine();
    await promptrun(['versions', 'label', 'summary', first, 'old']);
    const remove = ['versions', 'label', 'summary', 'old', '--remove'];

    expect((await promptrun(remove)).exitCode).toBe(0);

    const again = await promptrun(remove);
    expect(again.stderr).toContain('summary has no label "old"');
    expect(again.exitCode).toBe(EXIT.notFound);

    const run = await promptrun(['run', 'summary@old', '-i', 'x=1']);
    expect(run.exitCode).toBe(EXIT.notFound);
    expect(run.stderr).toContain('summary has no label or version "old"');

    const latest = await promptrun(['run', 'summary@latest', '-i', 'x=1']);
    expect(latest.stderr).toContain('\nWithout a label, summary is its latest version.\n');
    expect(latest.exitCode).toBe(EXIT.notFound);
    expect((await promptrun(['versions', 'label', 'summary', 'ffffffff', 'old'])).exitCode).toBe(
      EXIT.notFound,
    );
    expect((await promptrun(['versions', 'label', 'nobodys', first, 'old'])).exitCode).toBe(
      EXIT.notFound,
    );
  });

  it.each([
    [['summary', 'production'], 'a label takes a prompt, a version and the label'],
    [['summary', 'abc', 'production', '--remove'], '--remove takes a prompt and a label'],
    [['summary', 'abc', 'dead'], 'is not a label'],
    [['./summary.prompt', 'abc', 'production'], 'not a file'],
  ])('refuses %j', async (words, message) => {
    const { promptrun } = await createMachine();
    const { exitCode, stderr } = await promptrun(['versions', 'label', ...words]);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(message);
  });

  it('refuses a service without labels after one GET', async () => {
    const { exitCode, stderr } = await runWithScript(
      [
        {
          expect: { method: 'GET', path: '/prompts', query: { limit: '1' } },
          answer: failure(404, 'NOT_FOUND_ERROR', 'no'),
        },
      ],
      ['versions', 'label', 'summary', '9b1f7c4e', 'production'],
    );
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('has no labels');
  });

  it('runs the rows of a batch by a label', async () => {
    const { home, promptrun, first } = await createMachine();
    writeFileSync(path.join(home, 'rows.csv'), 'x\n1\n2\n');
    await promptrun(['versions', 'label', 'summary', first, 'rows']);
    const { exitCode, stdout } = await promptrun(['batch', 'summary@rows', '--from', 'rows.csv']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('One 2');
  });
});
