import { spawnSync } from 'node:child_process';

export type Environment = Readonly<Record<string, string>>;

export interface Cost {
  /** User and system time, in milliseconds. */
  readonly cpu: number;
  readonly wall: number;
}

/** A command line, and all that is in its environment. */
export interface Run {
  readonly argv: readonly string[];
  readonly env: Environment;
  /** The working directory of this process by default. */
  readonly cwd?: string;
}

/** Returns the lowest cost of each over a number of rounds, in which they take turns. */
export function measureInTurns(bare: Run, own: Run, rounds: number): { bare: Cost; own: Cost } {
  findCost(own); // what only the first call does, such as making a store, is not measured
  let least = { bare: findCost(bare), own: findCost(own) };
  for (let round = 1; round < rounds; round += 1) {
    least = {
      bare: pickLowerCost(least.bare, findCost(bare)),
      own: pickLowerCost(least.own, findCost(own)),
    };
  }

  return least;
}

/** Returns the lesser of each figure. */
export function pickLowerCost(one: Cost, other: Cost): Cost {
  return { cpu: Math.min(one.cpu, other.cpu), wall: Math.min(one.wall, other.wall) };
}

/**
 * Measures a command with the shell's own clock, because Node can't tell the CPU time of one child.
 */
export function findCost({ argv, env, cwd }: Run): Cost {
  const script = 'TIMEFORMAT="%3R %3U %3S"; time "$@" > /dev/null 2> /dev/null < /dev/null';
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...argv], {
    env,
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${argv.join(' ')} failed with ${status}`);

  const [wall = 0, user = 0, system = 0] = stderr
    .trim()
    .split(' ')
    .map(seconds => Number(seconds) * 1000);
  return { cpu: user + system, wall };
}
