import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { Project } from '../../support/project.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';

const NAMES = 'name\nAda\nBo\nEve\n';

describe('batch --dry-run', () => {
  test('checks every row, creates no run, and needs no --out', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'name,image\nAda,no.png\nBo,none.png\n' });
    const { exitCode, stderr } = await runBatchCommand(
      ['hello', '--from', 'rows.csv', '--dry-run'],
      {
        env,
        home,
        terminal: { stdout: true },
      },
    );

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('rows.csv line 2 (row 1): image: no.png does not exist');
    expect(stderr).toContain('2 rows checked, 2 invalid');
    expect(await runs()).toEqual([]);
  });

  test('opens the images of each row', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({
      'rows/rows.csv': 'image\nno.png\nnotes.txt\n../secret.png\n/dev/zero\n',
      'rows/notes.txt': 'no picture',
      'secret.png': 'a secret',
    });

    const { exitCode, stderr } = await runBatchCommand(
      ['describe', '--from', 'rows/rows.csv', '--dry-run'],
      {
        env,
        home,
      },
    );
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('line 4 (row 3): ../secret.png lies outside the folder');
    expect(stderr).toContain('line 5 (row 4): /dev/zero lies outside the folder');
    expect(stderr).toContain('line 2 (row 1): image: no.png does not exist');
    expect(stderr).toContain('line 3 (row 2): image notes.txt is not an image');
    expect(await runs()).toEqual([]);
  });

  test('reports inputs that the embedded service would refuse', async () => {
    const frontMatter =
      'model: echo\ninput: {schema: {type: object, properties: {n: {type: integer, minimum: 3}}}}';
    const project = new Project({
      'n.prompt': `---\n${frontMatter}\n---\n{{n}}`,
      'rows.csv': 'n\n5\n1\nfive\n',
    });
    const result = await project.run(['batch', 'n.prompt', '--from', 'rows.csv', '--dry-run']);
    expect(result.stderr()).toMatch(
      /line 3 \(row 2\): the input n .*>= 3[^]*row 3\): the input n must be a whole number/u,
    );
    expect(result.exitCode).toBe(EXIT.usage);
  });

  test('exits 0 if nothing is wrong', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const { exitCode } = await runBatchCommand(['hello', '--from', 'names.csv', '--dry-run'], {
      env,
      home,
    });

    expect(exitCode).toBe(0);
    expect(existsSync(path.join(home, 'results.jsonl'))).toBe(false);
  });
});
