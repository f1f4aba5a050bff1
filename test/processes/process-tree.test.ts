import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endOrphanedTree, ProcessTree } from '../../src/processes/process-tree.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { isPosix } from '../support/system.ts';

function startTree(script: string, mark: string): ProcessTree {
  const env = { PATH: process.env['PATH'], TREE_MARK: mark };
  return new ProcessTree(
    { argv: ['sh', '-c', script], directory: createTemporaryDirectory(), env },
    'TREE_MARK',
  );
}

function isRunning(program: string): boolean {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(program);
}

/**
 * Resolves once none of the programs runs: one that was killed ends when it is next given a
 * processor.
 */
async function waitUntilGone(...programs: string[]): Promise<void> {
  await expect.poll(() => programs.filter(isRunning)).toEqual([]);
}

/**
 * Returns the command line of a program that sleeps longer than any test, and that no other test
 * has started.
 */
function createSleepCommand(): string {
  sleepCommandCount += 1;
  return `sleep ${process.pid}${1000 + sleepCommandCount}`;
}

let sleepCommandCount = 0;

describe.runIf(process.platform === 'linux')('a tree of processes', () => {
  it.runIf(isPosix)('ends with everything that it started, also outside its group', async () => {
    const [one, other] = [createSleepCommand(), createSleepCommand()];
    const tree = startTree(`${one} & setsid ${other} & echo on; wait`, one);
    await once(tree.child.stdout, 'data');
    await tree.end();
    expect(await tree.whenEnded).toEqual({ code: null, signal: 'SIGKILL' });
    await waitUntilGone(one, other);
  });

  it('ends the programs that it left running when it ended', async () => {
    const leftProgram = createSleepCommand();
    const tree = startTree(`${leftProgram} & exit 3`, leftProgram);
    expect(await tree.whenEnded).toEqual({ code: 3, signal: null });
    await tree.end();
    await waitUntilGone(leftProgram);
  });

  it('closes the output that a process which nobody can find keeps open', async () => {
    const hiddenProgram = `/bin/${createSleepCommand()}`;
    const tree = startTree(`setsid env -i ${hiddenProgram} & echo $!`, hiddenProgram);
    const [pid] = (await once(tree.child.stdout, 'data')) as [Buffer];
    const closed = once(tree.child, 'close');
    await tree.whenEnded;

    // Its environment and its group are its own by now.
    await expect.poll(() => isRunning(hiddenProgram)).toBe(true);

    await tree.end();
    await closed;

    expect(isRunning(hiddenProgram)).toBe(true);

    process.kill(Number(pid.toString()));
  });

  it.runIf(isPosix)(
    'that was left running ends by its group if no environment can be seen, and never by a later one',
    async () => {
      const one = createSleepCommand();
      const tree = startTree(`${one} & echo on; wait`, one);
      await once(tree.child.stdout, 'data');
      const createOrphanedTree = (latestKillAt: number) => ({
        mark: 'OTHER=1',
        root: tree.root,
        latestKillAt,
      });
      await endOrphanedTree(createOrphanedTree((tree.root?.began ?? 0) - 60_000), {}, 'darwin');

      await expect.poll(() => isRunning(one)).toBe(true);

      await endOrphanedTree(createOrphanedTree(Date.now()), {}, 'darwin');
      expect(await tree.whenEnded).toEqual({ code: null, signal: 'SIGKILL' });

      await waitUntilGone(one);
    },
  );

  it('is not started by a name that is not in PATH', () => {
    const start = { argv: ['sh'] as const, directory: '/bin', env: { PATH: '.' } };
    expect(() => new ProcessTree(start, 'TREE_MARK')).toThrow('no program of that name in PATH');
  });
});
