import path from 'node:path';
import { formatOutputData, toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { inspectNamedFile, isOnOtherComputer } from '../../../files/named-file.ts';
import { formatDollars, toMoney } from '../../../wire/money.ts';
import { pluralize } from '../../core/pluralize.ts';
import { formatSpendingTotals, formatSpentTotals } from '../../creation/spending/spending-text.ts';
import { hasPaidCredits } from '../../creation/spending/totals.ts';
import type { Grid, GridPart } from '../../outputs/html/grid.ts';
import { renderGridPage } from '../../outputs/html/grid-page.ts';
import { MAX_PAGE_MEDIA_BYTES, readDataUrl } from '../../outputs/media-content.ts';
import { formatReason } from '../../outputs/run-errors.ts';
import type { ResultsLine } from '../results/results-line.ts';
import { type BatchSummary, formatUnfinished, hasRowSucceeded } from './reported-rows.ts';

/**
 * Renders the results as one HTML page, with inputs next to outputs and saved images embedded.
 *
 * @param folder the folder of the results; paths of saved outputs are relative to it and stay below
 * it
 * @returns the page, and the paths of saved outputs that it leaves out
 */
export async function renderReportPage(
  rows: readonly ResultsLine[],
  summary: BatchSummary,
  { title, folder }: { readonly title: string; readonly folder: string },
): Promise<{ readonly html: string; readonly omittedPaths: readonly string[] }> {
  const gridRows: Grid['rows'][number][] = [];
  const savedImages = new SavedImages(folder);
  for (const row of rows) gridRows.push(await buildResultGridRow(row, savedImages));
  const seconds = summary.seconds === undefined ? '–' : `${summary.seconds} s`;
  const html = renderGridPage({
    title,
    facts: [
      ...(summary.unfinished === undefined ? [] : [formatUnfinished(summary.unfinished)]),
      `${pluralize(summary.rows, 'row')}: ${summary.succeeded} succeeded, ${summary.failed} failed`,
      ...formatSpendingTotals(summary),
    ],
    columns: [
      {
        name: 'output',
        totals: [
          { name: 'time', value: seconds },
          ...formatSpentTotals(summary, { withCredits: hasPaidCredits(summary) }),
        ],
      },
    ],
    rows: gridRows,
    faults: summary.failures.map(({ reason, rows: count }) => `${count} × ${reason}`),
  });

  return { html, omittedPaths: savedImages.omittedPaths };
}

async function buildResultGridRow(
  row: ResultsLine,
  savedImages: SavedImages,
): Promise<Grid['rows'][number]> {
  const { inputs, error, outputs, seconds, tokens } = row;
  const state = hasRowSucceeded(row) ? 'succeeded' : 'failed';
  const parts: GridPart[] = error === null ? [] : [{ kind: 'message', text: error }];
  for (const output of outputs) parts.push(await buildOutputPart(output, savedImages));
  const facts = [row.runId ?? 'no run'];
  if (seconds !== null) facts.push(`${seconds} s`);
  if (tokens !== null) facts.push(pluralize(tokens, 'token'));
  if (row.cost !== null) facts.push(formatDollars(toMoney(row.cost)));

  return {
    name: row.id,
    state,
    inputs: [
      ...Object.entries(inputs?.textInputs ?? {}).map(
        ([name, value]) => [name, toTextOrEmpty(value)] as const,
      ),
      ...(inputs?.imageInputs ?? []).map(
        (image, index) => [`image ${index + 1}`, toTextOrEmpty(image)] as const,
      ),
    ],
    cells: [{ state, facts, parts }],
  };
}

/** Renders an output. A URL from a service is text only, so that the page never loads it. */
async function buildOutputPart(
  { type, data, savedTo }: ResultsLine['outputs'][number],
  savedImages: SavedImages,
): Promise<GridPart> {
  const isMedia = type === 'image' || type === 'video';
  const url =
    isMedia && typeof savedTo === 'string' ? await savedImages.readDataUrl(savedTo) : undefined;
  if (url !== undefined) return { kind: 'media', url };
  return type === 'error'
    ? { kind: 'error', text: formatReason(data) }
    : { kind: 'text', text: formatOutputData(data) };
}

/** The saved outputs below the folder of the results, which may come from a stranger. */
class SavedImages {
  readonly omittedPaths: string[] = [];
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns the `data:` URL of a saved output. If the output is elsewhere or can't be shown, adds
   * it to `omittedPaths` and returns undefined.
   */
  async readDataUrl(savedTo: string): Promise<string | undefined> {
    const isElsewhere = isOnOtherComputer(savedTo);
    const url = isElsewhere
      ? undefined
      : await this.#read(path.resolve(this.#folder, savedTo)).catch(() => undefined);
    if (url === undefined) this.omittedPaths.push(savedTo);
    return url;
  }

  async #read(file: string): Promise<string | undefined> {
    const { realPath, fault } = inspectNamedFile(file, this.#folder, MAX_PAGE_MEDIA_BYTES);
    return fault === undefined ? await readDataUrl(realPath) : undefined;
  }
}
