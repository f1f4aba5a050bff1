import type { OutputItem, Run } from '../../../wire/index.ts';
import type { Failure } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';

/** What one variant made of a row. */
export interface VariantResult {
  /** undefined where nothing could be run. */
  readonly run: Run | undefined;
  readonly seconds: number;
  /** As the service's list says; null where the run was free or is not known. */
  readonly credits: number | null;
  /** SHA-256 of each picture or video, by its URL. */
  readonly media: ReadonlyMap<string, MediaContent>;
  readonly fault: Failure | undefined;
}

export interface MediaContent {
  /** Hexadecimal. */
  readonly sha256: string;
  /** For a page; undefined where none is made, or it is too large for one. */
  readonly dataUrl?: string;
}

/** A row of the input with what each variant made of it, in the order of the variants. */
export interface ComparedRow {
  readonly row: number;
  readonly id: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly results: readonly VariantResult[];
}

/** `failed` where a run failed or could not be made; else `changed` where the outputs are not all equal. */
export type Verdict = 'same' | 'changed' | 'failed';

export function verdictOn({ results }: ComparedRow): Verdict {
  if (results.some(({ run }) => run?.runStatus !== 'succeeded')) {
    return 'failed';
  }
  const [first, ...others] = results.map(contentOf);
  return others.every(content => content === first) ? 'same' : 'changed';
}

/** Pictures are compared by their bytes: each run has URLs of its own. */
function contentOf({ run, media }: VariantResult): string {
  return JSON.stringify(
    run?.outputs.map(({ type, data }) => {
      const content = media.get(fieldText(data));
      return [type, content === undefined ? data : content.sha256];
    }),
  );
}

/** The URLs of pictures and videos among outputs. */
export function mediaUrls(outputs: readonly OutputItem[]): string[] {
  return outputs
    .filter(({ type }) => type === 'image' || type === 'video')
    .flatMap(({ data }) => (typeof data === 'string' ? [data] : []));
}

/** The text of a variant's answer, or why there is none. */
export function shownText({ run, fault }: VariantResult): string {
  if (fault !== undefined) {
    return `${fault.message} (${fault.status})`;
  }
  return (run?.outputs ?? [])
    .filter(({ type }) => type === 'text' || type === 'error')
    .map(({ type, data }) => (type === 'error' ? `error: ${fieldText(data)}` : fieldText(data)))
    .join('\n');
}
