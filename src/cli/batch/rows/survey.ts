import { usageError } from '../../errors.ts';
import type { RowState } from '../results/results-line.ts';
import { isInShard, type Shard } from './shard.ts';
import { type RowSource, readRows } from './source.ts';

/**
 * Reads the rows once before any is run: counts those of the shard, and compares them with results from before.
 *
 * @throws {CliError} for what is wrong with the whole source, and where the results have a row that it has not
 */
export async function surveyRows(
  source: RowSource,
  options: {
    readonly shard: Shard | undefined;
    readonly states: ReadonlyMap<string, RowState>;
    readonly out: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const strays = new Set(idsThatMatter(options.states));
  let count = 0;
  for await (const { row, id } of readRows(source, options.signal)) {
    strays.delete(id);
    count += isInShard(options.shard, row) ? 1 : 0;
  }
  const [stray] = strays;
  if (stray !== undefined) {
    throw usageError(
      `${options.out} has a result of row ${JSON.stringify(stray)}, which ${source.name} does not hold`,
      'give the rows the results were made from, or name another file with --out',
    );
  }
  return count;
}

/** A row that never had a run may have been mended, and go by another id now. */
function* idsThatMatter(states: ReadonlyMap<string, RowState>): Generator<string> {
  for (const [id, { runId, runStatus }] of states) {
    if (runId !== undefined || runStatus !== 'failed') {
      yield id;
    }
  }
}
