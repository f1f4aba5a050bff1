import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runCommand } from '../../../support/command.ts';
import { runInProcess } from '../../../support/context.ts';
import { Project } from '../../../support/project.ts';

it("says why a run can't be repeated, and where its request may still be saved", async () => {
  const { home } = new Project({});
  const runId = '01890000-0000-7000-8000-000000000000';
  const { exitCode, stderr } = await runInProcess(['runs', 'rerun', runId], {
    home,
    local: localService,
  });

  expect(exitCode).toBe(EXIT.notFound);
  expect(stderr()).toContain(
    `error: run ${runId} can't be run again: the run does not exist (NOT_FOUND_ERROR)\n` +
      'If it was saved with --save: promptrun runs rerun ./01890000-0000-7000-8000-000000000000.json\n',
  );
});

it.each([[[]], [['--json']], [['--compare']]])(
  'names the new run if its result could not be printed: %j',
  async flags => {
    const { home } = new Project({});
    const options = { home, local: localService };
    const first = await runInProcess(['run', 'hello', '-i', 'name=Ada', '--json'], options);
    const { runId } = JSON.parse(first.stdout()) as { runId: string };
    const again = await runInProcess(['runs', 'rerun', runId, ...flags], {
      ...options,
      readerTakes: 3,
    });

    expect(again.exitCode).toBe(EXIT.fault);

    const [, newRunId] = /the result of run ([\w-]+) was not printed/.exec(again.stderr()) ?? [];
    expect(newRunId).toMatch(/^[\da-f-]{36}$/);
    expect(newRunId).not.toBe(runId);
  },
);

it('creates nothing if the run to compare with is gone', async () => {
  const { home } = new Project({});
  const options = { home, local: localService };
  const first = await runInProcess(
    ['run', 'hello', '-i', 'name=Ada', '--save', 'out', '--json'],
    options,
  );
  const { runId } = JSON.parse(first.stdout()) as { runId: string };
  const manifest = readFileSync(path.join(home, 'out', `${runId}.json`), 'utf8');
  const goneRunId = '01890000-0000-7000-8000-000000000000';
  writeFileSync(path.join(home, `${goneRunId}.json`), manifest.replaceAll(runId, goneRunId));
  const again = await runInProcess(['runs', 'rerun', `./${goneRunId}.json`, '--compare'], options);

  expect(again.stderr()).toContain('the run does not exist');
  expect(again.exitCode).toBe(EXIT.notFound);

  const list = await runInProcess(['runs', 'list', '--query', '[].runId', '--json'], options);
  expect(JSON.parse(list.stdout())).toEqual([runId]);
});

it('replays a rerun from its recordings, without the store', async () => {
  const { home } = new Project({});
  const options = { home, local: localService };
  const first = await runInProcess(['run', 'hello', '-i', 'name=Ada', '--json'], options);
  const { runId } = JSON.parse(first.stdout()) as { runId: string };
  const runRerun = (...flags: string[]) =>
    runInProcess(['runs', 'rerun', runId, '-i', 'name=Bob', '--compare', ...flags], options);
  const recorded = await runRerun('--record', 'kept');

  expect(recorded.stdout()).toContain('Bob');
  expect(recorded.exitCode).toBe(0);

  rmSync(path.join(home, 'data'), { recursive: true });
  const replayed = await runRerun('--replay', 'kept');

  expect(replayed.stdout()).toBe(recorded.stdout());
  expect(replayed.exitCode).toBe(0);
});

it('says that a rerun needs the models file of its model again', async () => {
  const { home } = new Project({
    'a.prompt': '---\nmodel: shout\n---\nHi',
    'models.yaml':
      'models:\n  - { model: shout, modality: text, program: [node, -e, "setTimeout(() => {}, 60e3)"] }',
  });
  const options = { cwd: home, env: { PROMPTRUN_DATA_DIR: path.join(home, 'data') } };
  const stopped = await runCommand(
    ['run', 'a.prompt', '--models', 'models.yaml', '--timeout', '4s'],
    options,
  );
  const [, runId = ''] =
    /^Run it again with: promptrun runs rerun (\S+) --models models\.yaml$/m.exec(stopped.stderr) ??
    [];

  expect(runId).toMatch(/^[\da-f-]{36}$/);
  expect(stopped.code).toBe(EXIT.waitTimeout);

  const again = await runCommand(['runs', 'rerun', runId], options);
  expect(again.stderr).toMatch(
    /the model `shout` does not exist.*\n.* name the file again: --models <file>\n/,
  );
  expect(again.code).toBe(EXIT.usage);
});

it.each([
  [['runs', 'get'], 'runs list'],
  [['runs', 'rerun', '--last', '--compare', '--open'], 'runs save --last'],
  [['runs', 'list', '--starting-after', 'x'], 'runs list'],
  [['resources', 'list', '--cached'], 'resources refresh'],
])('advises a command for the same service after %j', async (argv, advice) => {
  const flags = ['--base-url', 'https://prompts.example/v1'];
  const env = { PROMPTRUN_API_KEY: 'a-key' };
  const { stderr } = await runInProcess([...argv, ...flags], { env });
  expect(stderr()).toContain(`: promptrun ${advice} --base-url https://prompts.example/v1\n`);
});
