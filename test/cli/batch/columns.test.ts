import { expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import { readResultLines, runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';

const REMARKED = {
  'rows.csv': 'name,remark,image\nAda,friend,a.png\nBo,,\n',
  'echo.prompt': '---\nmodel: echo\ninput: { schema: { name: string } }\n---\nHello {{name}}\n',
};

test.each([['remark,image'], ['*']])('--ignore-columns %s leaves columns out', async columns => {
  const home = createDirectoryWith(REMARKED);
  const { exitCode, stderr } = await runBatchCommand(
    [
      'echo.prompt',
      '--from',
      'rows.csv',
      '--out',
      'results.jsonl',
      '--sorted',
      '--ignore-columns',
      columns,
    ],
    { home, env: {}, local: embedded },
  );
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(readResultLines(home).map(({ outputs }) => outputs?.[0]?.data)).toEqual([
    'Hello Ada',
    'Hello Bo',
  ]);
});

test.each([
  ['remark,picture,image', { remark: 'friend', picture: 'a.png', image: 'b.png' }],
  ['image2', { image2: 'a.png' }],
  ['*', { remark: 'friend', image7: 'a.png' }],
])('--ignore-columns %s leaves fields of JSON rows out by their names', async (columns, fields) => {
  const home = createDirectoryWith({
    ...REMARKED,
    'rows.jsonl': `${JSON.stringify({ name: 'Ada', ...fields })}\n`,
  });
  const flags = ['--out', 'results.jsonl', '--ignore-columns', columns];
  const { exitCode, stderr } = await runBatchCommand(
    ['echo.prompt', '--from', 'rows.jsonl', ...flags],
    { home, env: {}, local: embedded },
  );

  expect({ exitCode, stderr }).toMatchObject({ exitCode: EXIT.ok });
  expect(readResultLines(home).map(({ outputs }) => outputs?.[0]?.data)).toEqual(['Hello Ada']);
});

test('-m runs every row with another model than the prompt names', async () => {
  const home = createDirectoryWith(REMARKED);
  const flags = ['--out', 'results.jsonl', '--ignore-columns', '*', '-m', 'card'];
  const { exitCode } = await runBatchCommand(['echo.prompt', '--from', 'rows.csv', ...flags], {
    home,
    env: {},
    local: embedded,
  });

  expect(exitCode).toBe(0);
  expect(readResultLines(home).map(({ outputs }) => outputs?.[0]?.type)).toEqual([
    'image',
    'image',
  ]);
});

test.each([
  ['a run', ['--out', 'results.jsonl']],
  ['a dry run', ['--dry-run']],
])(
  '%s refuses a column that the prompt has no input for once, before anything is created',
  async (_, flags) => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'nam\nAda\nBo\n' });
    const args = ['hello', '--from', 'rows.csv', ...flags];
    const { exitCode, stderr } = await runBatchCommand(args, { env, home });

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(
      'rows.csv: the prompt has no input for the column "nam"; did you mean name?',
    );
    expect(stderr.match(/error:/gu)).toHaveLength(1);
    expect(await runs()).toEqual([]);
  },
);

test('a header with another separator names both ways to continue, as a shell takes them', async () => {
  const { env } = await startServiceForTest();
  const home = createDirectoryWith({ 'rows.csv': 'id|name\n1|Ada\n' });
  const args = ['hello', '--from', 'rows.csv', '--dry-run'];
  const { exitCode, stderr } = await runBatchCommand(args, { env, home });

  expect(exitCode).toBe(EXIT.usage);
  expect(stderr).toMatch(
    /--ignore-columns (['"])id\|name\1\.\nIf \| separates the columns, add --delimiter (['"])\|\2\.$/mu,
  );
});
