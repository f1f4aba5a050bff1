import { usageError } from '../../errors.ts';

/** One of several equal parts of a batch. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly of: number;
}

/** @throws {CliError} for anything but `i/n` with i from 1 to n */
export function parseShard(text: string): Shard {
  const [, index, of] = /^(\d{1,9})\/(\d{1,9})$/u.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (!(shard.index >= 1 && shard.index <= shard.of)) {
    throw usageError(
      `--shard needs i/n with i from 1 to n, not ${JSON.stringify(text)}`,
      'for example: --shard 1/4 on the first of four machines',
    );
  }
  return shard;
}

/** Whether a row is this shard's; every row is exactly one's. */
export function isInShard(shard: Shard | undefined, row: number): boolean {
  return shard === undefined || (row - 1) % shard.of === shard.index - 1;
}
