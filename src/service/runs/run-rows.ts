import type { OutputItem, RunRow } from '../../wire/index.ts';
import type { MediaOutput } from '../media/media.ts';
import type { StoredOutput, StoredRun } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';

/** Where the media of an output is to be had; `origin` is the request's. */
export type MediaUrl = (output: MediaOutput, origin: string) => string;

/** Of the outputs on a page that has more than one row. */
const PAGE_BYTES = 16 * 1024 * 1024;

/**
 * The rows of these runs as far as a page can hold them: at least the first one's.
 *
 * @param options.withTimes whether rows tell when runs ended
 * @param options.onBytes is told how much is about to be read, and may throw
 */
export async function runRows(
  { store, mediaUrl }: { readonly store: Store; readonly mediaUrl: MediaUrl },
  ids: readonly string[],
  { origin, withTimes, onBytes }: { origin: string; withTimes: boolean; onBytes: (bytes: number) => void },
): Promise<RunRow[]> {
  const runs = await store.runs.read(ids, PAGE_BYTES, onBytes);
  return runs.map(run => ({
    ...runRow(run, outputItems(run.outputs, mediaUrl, origin)),
    ...(withTimes && { endedAt: run.endedAt === null ? null : new Date(run.endedAt).toISOString() }),
  }));
}

/** A run as the list gives it; one that was free has no credits. */
function runRow(run: StoredRun, outputs: OutputItem[]): RunRow {
  return {
    runId: run.id,
    promptVersionId: run.promptVersionId,
    outputs,
    runStatus: run.status,
    credits: run.credits === 0 ? null : run.credits,
    runName: run.name,
    createdAt: new Date(Math.floor(run.createdAt / 1000)).toISOString(),
  };
}

/** Outputs with the URLs under which this process gives their media. */
export function outputItems(outputs: StoredOutput[], mediaUrl: MediaUrl, origin: string): OutputItem[] {
  return outputs.map(output =>
    'media' in output
      ? { type: output.type, data: mediaUrl(output, origin) }
      : { type: output.type, data: output.data },
  );
}
