import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import { runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith, runInProcess } from '../../support/context.ts';
import { Project } from '../../support/project.ts';
import { type ServiceForTest, startServiceForTest } from '../../support/service-for-test.ts';
import { isPosix } from '../../support/system.ts';

const NAMES = 'name\nAda\nBo\nEve\n';

describe('usage errors of batch', () => {
  let service: ServiceForTest;
  beforeAll(async () => {
    service = await startServiceForTest({}, afterAll);
  });

  test.each([
    [['--from', 'names.csv'], '--out is missing'],
    [['--from', 'none.csv', '--out', 'r.jsonl'], 'none.csv does not exist'],
    [['--from', 'names.txt', '--out', 'r.jsonl'], 'does not show its format'],
    [['--from', 'names.xlsx', '--out', 'r.jsonl'], 'names.xlsx is a spreadsheet'],
    [
      ['--from', 'names.json', '--out', 'r.jsonl'],
      'If each line is a JSON object, add --format jsonl',
    ],
    [['--from', '-', '--out', 'r.jsonl'], '--from - needs --format'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--shard', '0/2'], '--shard needs i/n'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--shard', '3/2'], '--shard needs i/n'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--max-failures', '0'], '--max-failures needs'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--concurrency', '0'], 'concurrency'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--retry-failed'], 'needs --resume'],
    [['--from', 'names.csv', '--resume'], '--resume needs --out'],
    [['--from', 'names.csv', '--out', 'old.jsonl'], 'old.jsonl already exists'],
    [['--from', 'names.csv', '--out', 'begun.jsonl'], 'begun.jsonl.journal already exists'],
    ...(process.platform === 'linux'
      ? ([
          [
            ['--from', 'names.csv', '--out', '/proc/version', '--resume'],
            "files can't be created in /proc",
          ],
        ] as [string[], string][])
      : []),
    [['--from', 'names.csv', '--out', 'no/such/r.jsonl'], 'no such directory'],
    [['--from', 'names.csv', '--out', 'r.xlsx'], 'JSONL or CSV, not as .xlsx'],
    ...(isPosix
      ? ([
          [
            ['--from', 'names.csv', '--out', '/dev/null', '--resume'],
            '--resume needs --out with the results file',
          ],
        ] as [string[], string][])
      : []),
    [['--from', 'names.csv', '--out', '.'], '--out: . is a directory'],
    [['--from', 'names.csv', '--out', '.', '--resume'], '--out: . is a directory'],
    [
      ['--from', 'names.csv', '--out', 'old.jsonl/r.jsonl', '--resume'],
      'old.jsonl is not a directory',
    ],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--save', 'old.jsonl'], '--save: '],
    [
      ['--from', 'names.csv', '--out', 'r.jsonl', '--max-cost', '1'],
      '--max-cost works only on the embedded service',
    ],
    [
      ['--from', 'twice.csv', '--out', 'r.jsonl'],
      'twice.csv: the header names the column "name" twice',
    ],
    [
      ['--from', '-', '--format', 'csv', '--out', 'r.jsonl', '-i', 'name=@-'],
      'standard input can be read only once',
    ],
  ])('%j is refused, exit 2, and leaves no file', async (args, message) => {
    const { env, runs } = service;
    const home = createDirectoryWith({
      'names.csv': NAMES,
      'names.txt': NAMES,
      'names.xlsx': 'PK',
      'names.json': '[]',
      'old.jsonl': '',
      'begun.jsonl.journal': '',
      'twice.csv': 'name,name\na,b\n',
    });

    const { exitCode, stderr } = await runBatchCommand(['hello', ...args], {
      env,
      home,
      terminal: { stdout: true },
    });
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(message);
    expect(existsSync(path.join(home, 'r.jsonl'))).toBe(false);
    expect(await runs()).toEqual([]);
  });

  test.each([
    { name: 'run', argv: ['run', 'hello', '-i', 'name=Ada'] },
    { name: 'batch', argv: ['batch', 'hello', '--from', 'names.csv', '--dry-run'] },
  ])('--max-cost of $name is refused before another service is asked', async ({ argv }) => {
    const home = createDirectoryWith({ 'names.csv': NAMES });
    // Nobody listens at this address: a request would end the command otherwise.
    const env = { PROMPTRUN_BASE_URL: 'http://127.0.0.1:1/v1', PROMPTRUN_API_KEY: 'a-key' };
    const { exitCode, stderr } = await runInProcess([...argv, '--max-cost', '1'], { home, env });
    expect(stderr()).toContain('--max-credits');
    expect(exitCode).toBe(EXIT.usage);
  });

  test('a target that does not exist is reported before any row runs', async () => {
    const { env } = service;
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const { exitCode } = await runBatchCommand(
      ['nobody', '--from', 'names.csv', '--out', 'r.jsonl'],
      {
        env,
        home,
      },
    );
    expect(exitCode).toBe(EXIT.notFound);
  });

  test('a run option that no model lists is refused once for all rows', async () => {
    const { env, runs } = service;
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const args = ['hello', '--from', 'names.csv', '--out', 'r.jsonl', '-o', 'sped=high'];
    const { exitCode } = await runBatchCommand(args, { env, home });
    expect(exitCode).toBe(EXIT.usage);
    expect(await runs()).toEqual([]);
  });
});

test.each([
  ['a column without an input', 'nam\nAda\n'],
  ['a column that is named twice', 'name,name\nAda,Bo\n'],
])('%s on standard input leaves no file behind', async (_, stdin) => {
  const home = createDirectoryWith({});
  const args = ['hello', '--from', '-', '--format', 'csv', '--out', 'results.jsonl'];
  const { exitCode } = await runBatchCommand(args, { env: {}, home, local: embedded, stdin });
  expect(readdirSync(home).filter(name => name.startsWith('results'))).toEqual([]);
  expect(exitCode).toBe(EXIT.usage);
});

test('--provider-batch with an offline model leaves no file behind', async () => {
  const project = new Project({ 'rows.csv': 'name\nAda\n' });
  const batch = ['batch', 'hello', '--from', 'rows.csv', '--out', 'r.jsonl'];
  const { exitCode } = await project.run([...batch, '--provider-batch']);

  expect(readdirSync(project.home).filter(name => name.startsWith('r.'))).toEqual([]);
  expect(exitCode).toBe(EXIT.usage);
  expect((await project.run(batch)).exitCode).toBe(0);
});
