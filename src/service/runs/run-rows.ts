import type { OutputItem, RunRow } from '../../wire/index.ts';
import type { MediaOutput } from '../media/media.ts';
import type { StoredOutput, StoredRun } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';

/** Where the media of an output is to be had; `origin` is the request's. */
export type MediaUrl = (output: MediaOutput, origin: string) => string;

/** Rows of lists as JSON. One that has ended never changes, so it is read and written out once. */
export class RunRows {
  readonly #store: Pick<Store, 'runList'>;
  readonly #mediaUrl: MediaUrl;
  readonly #kept = new Map<string, string>();

  readonly #mostKept: number;

  constructor(
    store: Pick<Store, 'runList'>,
    mediaUrl: MediaUrl,
    { mostKept = MOST_KEPT }: { mostKept?: number } = {},
  ) {
    this.#store = store;
    this.#mostKept = mostKept;
    this.#mediaUrl = mediaUrl;
  }

  /**
   * The rows of these runs as far as a page can hold them: at least the first one's, each as JSON. `onBytes` is told how
   * much is about to be read, and may throw.
   */
  async json(
    ids: readonly string[],
    origin: string,
    onBytes: (bytes: number) => void = () => {},
  ): Promise<string[]> {
    const rows = new Map(ids.map(id => [id, this.#kept.get(id)]));
    const unknown = ids.filter(id => rows.get(id) === undefined);
    for (const run of await this.#store.runList.read(unknown, PAGE_BYTES, onBytes)) {
      rows.set(run.id, this.#write(run, origin));
    }
    const end = ids.findIndex(id => rows.get(id) === undefined);
    return ids.slice(0, end < 0 ? ids.length : end).map(id => rows.get(id) ?? '');
  }

  #write(run: StoredRun, origin: string): string {
    const text = JSON.stringify(runRow(run, outputItems(run.outputs, this.#mediaUrl, origin)));
    if (isForKeeping(run, text)) {
      if (this.#kept.size >= this.#mostKept) this.#kept.clear();
      this.#kept.set(run.id, text);
    }
    return text;
  }
}

/** Of the outputs on a page that has more than one row. */
const PAGE_BYTES = 16 * 1024 * 1024;
const MOST_KEPT = 5000;
/** The longest row that is kept, in characters. */
const LONGEST_KEPT = 2000;

/** URLs of media depend on the request. */
function isForKeeping({ status, outputs }: StoredRun, text: string): boolean {
  if (status !== 'succeeded' && status !== 'failed') return false;
  return text.length <= LONGEST_KEPT && !outputs.some(output => 'media' in output);
}

/** A run as the list gives it (interface §2); one that was free has no credits. */
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
