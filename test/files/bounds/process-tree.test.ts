import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endOrphanedTree, ProcessTree } from '../../../src/files/bounds/process-tree.ts';
import { temporaryDirectory } from '../../support/context.ts';
import { isPosix } from '../../support/system.ts';

function started(script: string, sleeps: string): ProcessTree {
  const env = { PATH: process.env['PATH'], TREE_MARK: sleeps };
  return new ProcessTree({ argv: ['sh', '-c', script], directory: temporaryDirectory(), env }, 'TREE_MARK');
}

function isRunning(program: string): boolean {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(program);
}

describe.runIf(process.platform === 'linux')('a tree of processes', () => {
  it.runIf(isPosix)('ends with everything that it started, also outside its group', async () => {
    const tree = started('sleep 4191 & setsid sleep 4192 & echo on; wait', '4191');
    await once(tree.child.stdout, 'data');
    await tree.end();
    expect(await tree.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect([isRunning('sleep 4191'), isRunning('sleep 4192')]).toEqual([false, false]);
  });

  it('ends the programs that it left running when it ended', async () => {
    const tree = started('sleep 4193 & exit 3', '4193');
    expect(await tree.ended).toEqual({ code: 3, signal: null });
    await tree.end();
    expect(isRunning('sleep 4193')).toBe(false);
  });

  it('closes the output that a process which nobody can find keeps open', async () => {
    const tree = started('setsid env -i /bin/sleep 4195 & echo $!', '4195');
    const [pid] = (await once(tree.child.stdout, 'data')) as [Buffer];
    const closed = once(tree.child, 'close');
    await tree.ended;
    // Its environment and its group are its own by now.
    await expect.poll(() => isRunning('/bin/sleep 4195')).toBe(true);
    await tree.end();
    await closed;
    expect(isRunning('/bin/sleep 4195')).toBe(true);
    process.kill(Number(pid.toString()));
  });

  it.runIf(isPosix)(
    'that was left running ends by its group if no environment can be seen, and never by a later one',
    async () => {
      const tree = started('sleep 4194 & echo on; wait', '4194');
      await once(tree.child.stdout, 'data');
      const left = (killed: number) => ({ mark: 'OTHER=1', root: tree.root, killed });
      await endOrphanedTree(left((tree.root?.began ?? 0) - 60_000), {}, 'darwin');
      expect(isRunning('sleep 4194')).toBe(true);
      await endOrphanedTree(left(Date.now()), {}, 'darwin');
      expect(await tree.ended).toEqual({ code: null, signal: 'SIGKILL' });
      expect(isRunning('sleep 4194')).toBe(false);
    },
  );

  it('is not started by a name that is not in PATH', () => {
    const start = { argv: ['sh'] as const, directory: '/bin', env: { PATH: '.' } };
    expect(() => new ProcessTree(start, 'TREE_MARK')).toThrow('no program of that name in PATH');
  });
});
