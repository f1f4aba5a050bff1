import type { Run } from '../../../wire/index.ts';
import type { Money } from '../../../wire/money.ts';
import type { Failure } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';
import type { MediaContent } from '../../outputs/media-content.ts';

/** What one variant made of a row. */
export interface VariantResult {
  /** undefined where nothing could be run. */
  readonly run: Run | undefined;
  readonly seconds: number;
  /** As the service's list says; null where the run was free or is not known. */
  readonly credits: number | null;
  /** Of this machine's own service; null if it is not known. */
  readonly cost: Money | null;
  /** SHA-256 of each picture or video, by its URL. */
  readonly media: ReadonlyMap<string, MediaContent>;
  readonly fault: Failure | undefined;
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
