import { expect, it } from 'vitest';
import { runInProcess } from '../../support/context.ts';
import { hastyClock, homeWith, localService } from '../batch/support.ts';

it.each([
  ['test', 'hello.test.yaml'],
  ['compare', 'hello', 'hello', '--from', 'rows.csv'],
])('%s of a slug creates nothing if the listed estimate is above the cap', async (...args) => {
  const { env, runs } = await localService();
  const home = homeWith({
    'hello.test.yaml': 'target: hello\ncases:\n  - { inputs: { name: Ada } }\n',
    'rows.csv': 'name\nAda\n',
  });
  const run = (...flags: string[]): ReturnType<typeof runInProcess> =>
    runInProcess([...args, '--rate', '0', ...flags], { env, home, clock: hastyClock() });
  expect((await run('--max-credits', '0.5')).exitCode).toBe(8);
  expect(await runs()).toEqual([]);
  expect((await run('--dry-run')).stderr()).toMatch(/about \d credits?/u);
});
