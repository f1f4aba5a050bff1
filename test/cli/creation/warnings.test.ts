import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryDirectory } from '../../support/context.ts';
import { runWithScript } from '../../support/run-with-script.ts';
import { type Exchange, success, versionLookup } from '../../support/scripted-service.ts';

const VERSION = randomUUID();
const [SEED, HEAT] = ['m does not take seed: left out', 'm does not take temperature: left out'];

const version = versionLookup(VERSION);

function createRun(warnings?: unknown): object {
  const outputs = [{ type: 'text', data: 'Hi' }];
  return { runId: randomUUID(), outputs, runStatus: 'succeeded', tokens: 1, warnings };
}

function creation(warnings: unknown): Exchange {
  return { expect: { method: 'POST', path: '/runs' }, answer: success(createRun(warnings)) };
}

const list: Exchange = { expect: { path: '/runs' }, answer: success({ rows: [], hasMore: false }) };

it('each warning of a run is noted once for the whole command', async () => {
  const home = createTemporaryDirectory();
  writeFileSync(path.join(home, 'rows.csv'), 'a\n1\n2\n3\n');
  const { stderr, stdout } = await runWithScript(
    [version, creation([HEAT, SEED]), creation([HEAT]), creation(undefined), list],
    ['batch', VERSION, '--from', 'rows.csv', '--concurrency', '1', '--rate', '0'],
    { home },
  );

  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  expect(stderr.match(/^note: m does not take temperature: left out$/gmu)).toHaveLength(1);
  expect(stderr.match(/^note: m does not take seed: left out$/gmu)).toHaveLength(1);
});

it('hostile warnings of a service are noted without control characters', async () => {
  const { stderr, exitCode } = await runWithScript(
    [creation(['a\u001b[31m\nerror: no', 7, null])],
    ['run', VERSION],
  );
  expect(exitCode).toBe(0);
  expect(stderr).toContain('note: a');
  expect(stderr).not.toContain('\u001b');
  expect(stderr).not.toMatch(/^error: no/mu);
  expect((await runWithScript([creation('none')], ['run', VERSION])).stderr).toBe('');
});

it('runs show prints the warnings of a run', async () => {
  for (const [warnings, expectedText] of [
    [[HEAT], [HEAT]],
    [undefined, undefined],
  ]) {
    const { runId, ...rest } = createRun(warnings) as { runId: string };
    const script: Exchange[] = [
      { expect: { path: `/runs/${runId}` }, answer: success({ runId, ...rest }) },
      list,
    ];
    const { stdout } = await runWithScript(script, ['runs', 'show', runId, '--json']);

    expect(JSON.parse(stdout)).toEqual({
      runId,
      ...rest,
      ...(expectedText && { warnings: expectedText }),
    });

    const plain = await runWithScript(script, ['runs', 'show', runId]);
    expect(plain.stdout.includes(`warning\t${HEAT}`)).toBe(warnings !== undefined);
  }
});
