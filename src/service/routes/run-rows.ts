import type { OutputItem, RunRow } from '../../wire/index.ts';
import { yieldToEvents } from '../core/background-work.ts';
import type { MediaOutput } from '../media/media.ts';
import type { StoredOutput, StoredRun } from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';

/** Returns the URL of an output's media; `origin` is the request's. */
export type MediaUrl = (output: MediaOutput, origin: string) => string;

/** Maximum size of the outputs on a page with more than one row, in bytes. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * Returns the rows of these runs, but no more than fit on a page. The first row always does.
 *
 * @param options.withTimes true to include the times at which runs ended
 * @param options.onBytes called with the number of bytes about to be read; may throw
 */
export async function readRunRows(
  { store, mediaUrl }: { readonly store: Store; readonly mediaUrl: MediaUrl },
  ids: readonly string[],
  {
    origin,
    withTimes,
    onBytes,
  }: { origin: string; withTimes: boolean; onBytes: (bytes: number) => void },
): Promise<RunRow[]> {
  const runs = await store.runs.readRuns(ids, { maxBytes: MAX_PAGE_BYTES, onBytes });
  // Reading a full page takes tens of milliseconds, and so does the code below.
  await yieldToEvents();
  return runs.map(run => ({
    ...toRunRow(run, toOutputItems(run.outputs, mediaUrl, origin)),
    ...(withTimes && {
      endedAt: run.endedAt === null ? null : new Date(run.endedAt).toISOString(),
    }),
  }));
}

/** Returns the list row of a run; a free run has no credits. */
function toRunRow(run: StoredRun, outputs: OutputItem[]): RunRow {
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

/** Returns outputs with the URLs under which this process serves their media. */
export function toOutputItems(
  outputs: StoredOutput[],
  mediaUrl: MediaUrl,
  origin: string,
): OutputItem[] {
  return outputs.map(output =>
    'media' in output
      ? { type: output.type, data: mediaUrl(output, origin) }
      : { type: output.type, data: output.data },
  );
}
