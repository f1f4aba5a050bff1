import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO } from '../../support/project.ts';

const CASES = '  - {name: a, inputs: {text: a}}\n  - {name: b, inputs: {text: b}}\n';
const COMPARE = ['compare', 'echo.prompt', 'other.prompt', '-i', 'text=a'];

it.each([
  { argv: ['test'], runs: 2 },
  { argv: ['test', '--json'], runs: 2 },
  { argv: COMPARE, runs: 2 },
  { argv: ['models', 'check', 'echo'], runs: 1 },
])('names the runs that were made if standard output is full: $argv', async ({ argv, runs }) => {
  const project = createEchoProject(CASES, {
    'other.prompt': ECHO.replace('{{text}}', 'other {{text}}'),
  });
  const { exitCode, stderr } = await project.run(argv, { readerTakes: 3, isDiskFull: true });

  expect(exitCode).toBe(EXIT.fault);

  const list = await project.run(['runs', 'list', '--json']);
  const ids = (JSON.parse(list.stdout()) as { runId: string }[]).map(({ runId }) => runId);

  expect(ids).toHaveLength(runs);

  for (const id of ids) expect(stderr()).toContain(id);
});

it('keeps the exit code of tests whose reader is gone', async () => {
  const failing = '  - {name: c, inputs: {text: c}, expect: {equals: x}}\n';
  const project = createEchoProject(failing);
  const { exitCode, stderr } = await project.run(['test'], { readerTakes: 0 });
  expect(stderr()).toEqual(expect.not.stringContaining('error'));
  expect(exitCode).toBe(EXIT.runFailed);
});

it('keeps the exit code of a replay whose reader is gone, because it made no run', async () => {
  const project = createEchoProject(
    `${CASES}  - {name: c, inputs: {text: c}, expect: {equals: x}}\n`,
  );
  const whole = await project.run(['test', '--record', 'rec']);

  expect(whole.exitCode).toBe(EXIT.runFailed);

  const replayed = await project.run(['test', '--replay', 'rec'], { readerTakes: 0 });
  expect(replayed.stderr()).toEqual(expect.not.stringContaining('not printed'));
  expect(replayed.exitCode).toBe(EXIT.runFailed);
});
