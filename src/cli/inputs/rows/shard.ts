import { usageError } from '../../core/errors.ts';

/** One of several equal parts of a batch. */
export interface Shard {
  /** The number of this part, from 1. */
  readonly index: number;
  /** The number of parts. */
  readonly count: number;
}

/** Parses `i/n` with i from 1 to n. @throws {CliError} for anything else */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d{1,9})\/(\d{1,9})$/u.exec(text) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (!(shard.index >= 1 && shard.index <= shard.count)) {
    throw usageError(
      `--shard needs i/n with i from 1 to n, not ${JSON.stringify(text)}`,
      'For example: --shard 1/4 on the first of four machines',
    );
  }

  return shard;
}

/** Returns true if a row belongs to the shard; every row belongs to exactly one. */
export function isInShard(shard: Shard | undefined, row: number): boolean {
  return shard === undefined || (row - 1) % shard.count === shard.index - 1;
}
