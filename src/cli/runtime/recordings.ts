import path from 'node:path';
import type { PromptService } from '../../client/client.ts';
import type { EngineFault } from '../../models/engine.ts';
import type { Recorder } from '../core/recorder.ts';
import type { Env, GlobalOptions } from '../core/types.ts';
import { usageError } from '../errors.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** What a command does with recordings, as flags or environment say. */
export type Recordings =
  | { readonly mode: 'none' }
  /** The directory is absolute. */
  | { readonly mode: 'record' | 'replay'; readonly directory: string };

/**
 * `--record` and `--replay`, or `PROMPTRUN_RECORD` and `PROMPTRUN_REPLAY`; flags win.
 *
 * @throws {CliError} USAGE_ERROR where both are given
 */
export function recordingsOf(
  { record, replay }: Pick<GlobalOptions, 'record' | 'replay'>,
  env: Env,
  cwd: string,
): Recordings {
  const isFlag = record !== undefined || replay !== undefined;
  const recorded = isFlag ? record : env['PROMPTRUN_RECORD'] || undefined;
  const replayed = isFlag ? replay : env['PROMPTRUN_REPLAY'] || undefined;
  if (recorded !== undefined && replayed !== undefined) {
    throw usageError(
      isFlag ? '--record and --replay are both given' : 'PROMPTRUN_RECORD and PROMPTRUN_REPLAY are both set',
      'A replay sends nothing, so there is nothing to record: use one of them.',
    );
  }
  const directory = recorded ?? replayed;
  return directory === undefined
    ? { mode: 'none' }
    : { mode: recorded === undefined ? 'replay' : 'record', directory: path.resolve(cwd, directory) };
}

/** The recorder for a connection; undefined where nothing is recorded or replayed. */
export async function openRecorder(
  recordings: Recordings,
  options: {
    readonly baseUrl: string;
    readonly client: () => PromptService;
    /** Ends what is still being fetched for a recording. */
    readonly signal: AbortSignal;
    readonly note: (line: string) => void;
    readonly faultOf: (runId: string) => EngineFault | undefined;
    /** What a run that has ended cost, in US dollars; undefined if it is not known. */
    readonly costOf: (runId: string) => Promise<number | undefined>;
  },
): Promise<Recorder | undefined> {
  if (recordings.mode === 'none') return undefined;
  const { directory } = recordings;
  const { baseUrl, client, signal, faultOf, costOf } = options;
  if (recordings.mode === 'replay') {
    const { replayFrom } = await import('../recordings/replay.ts');
    return replayFrom({ directory, baseUrl });
  }
  const { checkDirectory } = await import('../outputs/writable.ts');
  checkDirectory(directory, '.', '--record');
  const { recordTo } = await import('../recordings/record.ts');
  const note = (line: string): void => options.note(oneLine(line));
  return recordTo({
    directory,
    baseUrl,
    signal,
    note,
    faultOf,
    costOf,
    download: (url, limits) => client().download(url, limits),
  });
}
