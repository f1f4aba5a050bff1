import type { Run } from '../../wire/index.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { withPaths } from '../outputs/results.ts';
import type { BatchOptions } from './options.ts';
import { errorText } from './row-fault.ts';
import type { RowFacts, RowWork } from './run-row.ts';

/** Where outputs are written. */
export interface SaveTo {
  readonly directory: string;
  readonly force: boolean;
}

export function saveToOf({ saveTo, force }: BatchOptions): SaveTo | undefined {
  return saveTo === undefined ? undefined : { directory: saveTo, force };
}

export interface SaveOptions {
  readonly save: SaveTo | undefined;
  readonly facts: RowFacts;
  readonly startedAt?: number;
}

/** Whatever goes wrong with the files, the run is paid for and its outputs are told. */
export async function savedRun(
  { ctx, batch: { connection, promptVersionId } }: RowWork,
  run: Run,
  { save: to, facts: { request }, startedAt }: SaveOptions,
): Promise<{ run: Run; notSaved?: CliError }> {
  if (to === undefined) {
    return { run };
  }
  const { saveOutputs } = await import('../outputs/save.ts');
  const facts = {
    promptVersionId,
    ...(request !== undefined && { request }),
    ...(startedAt !== undefined && { startedAt, endedAt: ctx.clock.now() }),
  };
  try {
    const { paths, failures } = await saveOutputs(ctx, connection, run, { ...to, facts });
    const saved = withPaths(run, paths);
    return failures.length === 0
      ? { run: saved }
      : { run: saved, notSaved: saveFault(failures.map(({ message }) => message).join('; ')) };
  } catch (error) {
    return { run, notSaved: saveFault(errorText(error)) };
  }
}

function saveFault(reason: string): CliError {
  return new CliError(`the run succeeded, its outputs were not all saved: ${reason}`, {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}
