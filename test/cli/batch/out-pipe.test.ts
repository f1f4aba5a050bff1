import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { parseLines, runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { type ServiceForTest, startServiceForTest } from '../../support/service-for-test.ts';
import { isPosix } from '../../support/system.ts';

const NAMES = 'name\nAda\nBo\nEve\n';

describe.runIf(isPosix)('a device or a pipe that --out names', () => {
  const BATCH = ['hello', '--from', 'names.csv', '--concurrency', '1', '--out'];
  let env: ServiceForTest['env'];
  beforeAll(async () => {
    ({ env } = await startServiceForTest({}, afterAll));
  });

  function homeWithPipe(): string {
    const home = createDirectoryWith({ 'names.csv': NAMES });
    execFileSync('mkfifo', [path.join(home, 'pipe')]);
    symlinkSync('pipe', path.join(home, 'link.jsonl'));
    symlinkSync('pipe', path.join(home, 'link.csv'));
    return home;
  }

  test.each(['pipe', 'link.jsonl'])('gets the lines: %s', async name => {
    const home = homeWithPipe();
    const read = readFile(path.join(home, 'pipe'), 'utf8');
    const { exitCode, stdout, stderr } = await runBatchCommand([...BATCH, name, '--json'], {
      env,
      home,
    });

    expect(exitCode).toBe(0);
    expect(parseLines(await read).map(({ row, runStatus }) => [row, runStatus])).toEqual([
      [1, 'succeeded'],
      [2, 'succeeded'],
      [3, 'succeeded'],
    ]);

    expect(JSON.parse(stdout)).toMatchObject({ rows: 3, succeeded: 3 });
    expect(stderr).toContain("the batch's journal is ");
    expect(readdirSync(home).filter(file => file.startsWith(name))).toEqual([name]);
  });

  test('gets a table behind a name that ends in .csv', async () => {
    const home = homeWithPipe();
    const read = readFile(path.join(home, 'pipe'), 'utf8');
    expect((await runBatchCommand([...BATCH, 'link.csv'], { env, home })).exitCode).toBe(0);
    const [header, ...rows] = (await read).trimEnd().split('\n');
    expect(header).toBe('name,runId,runStatus,error,output1');
    expect(rows.map(row => row.split(',')[0])).toEqual(['Ada', 'Bo', 'Eve']);
  });

  test.each(['/dev/stdout', '-'])(
    'may be standard output as %s, even a terminal, on which control characters are escaped',
    async out => {
      const home = createDirectoryWith({ 'names.csv': 'name\nA\u009b31m\u202e\n' });
      const { exitCode, stdout } = await runBatchCommand([...BATCH, out], {
        env,
        home,
        terminal: { stdout: true },
      });

      expect(exitCode).toBe(0);
      expect(stdout).not.toMatch(/[\u009b\u202e]/u);
      expect(parseLines(stdout)[0]?.outputs?.[0]?.data).toContain('A\u009b31m\u202e');
      expect(existsSync(path.join(home, '-'))).toBe(false);
    },
  );

  test('ends the batch once its reader has closed it', async () => {
    const home = createDirectoryWith({ 'names.csv': `name\n${'Ada\n'.repeat(50)}` });
    const pipe = path.join(home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const batch = runBatchCommand([...BATCH, 'pipe'], { env, home });
    const reader = await open(pipe);
    await reader.read();
    await reader.close();
    const { exitCode, stderr } = await batch;

    expect(exitCode).toBe(EXIT.fault);
    expect(stderr).toContain('pipe was closed before every result was written');
    expect(stderr).toContain('The journal names the runs that were made: ');
  });

  test('names the run whose result standard output does not take', async () => {
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const options = { env, home, readerTakes: 0, isDiskFull: true };
    const { exitCode, stderr } = await runBatchCommand(BATCH.slice(0, -1), options);
    expect(exitCode).toBe(EXIT.fault);
    expect(stderr).toMatch(/^error: the result of run [\da-f-]{36} was not printed: .*ENOSPC/mu);
    expect(stderr).toContain('The journal of the batch names those that were made.');
  });

  test.runIf(process.platform === 'linux')(
    'ends the batch if it is full, without a hint to resume',
    async () => {
      const home = createDirectoryWith({ 'names.csv': NAMES });
      const { exitCode, stderr } = await runBatchCommand([...BATCH, '/dev/full'], { env, home });
      expect(exitCode).toBe(EXIT.fault);
      expect(stderr).toContain("/dev/full can't be written");
      expect(stderr).not.toContain('--resume');
    },
  );
});
