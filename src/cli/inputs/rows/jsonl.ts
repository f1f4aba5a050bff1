import { textLines } from '../../../files/formats/text-lines.ts';
import { isJsonObject, JsonPastBound, type UncheckedObject } from '../../../utils/bounded-json.ts';
import { CliError } from '../../core/errors.ts';
import { Literal, parseJsonAsWritten } from '../json-as-written.ts';
import { type CollectedInputs, isNested, jsonInputs } from '../text-inputs.ts';
import { faultyRow, ID_COLUMN, imageColumnOrder, readableRow, type SourceRow } from './row.ts';

/**
 * Yields the rows of a file with one JSON object per line; skips blank lines.
 *
 * @param options `unwraps`: true to take `{"item": {…}}`, the form of OpenAI's Evals, as the row in `item`; default false
 */
export async function* readJsonl(
  text: AsyncIterable<string>,
  { unwraps = false } = {},
): AsyncGenerator<SourceRow> {
  let row = 0;
  for await (const { text: source, line } of textLines(text)) {
    if (source.trim() !== '') {
      row += 1;
      yield readObject(source, { row, line }, { unwraps });
    }
  }
}

function readObject(
  source: string,
  place: { row: number; line: number },
  { unwraps }: { readonly unwraps: boolean },
): SourceRow {
  let parsedLine: unknown;
  try {
    parsedLine = parseJsonAsWritten(source);
  } catch (error) {
    if (error instanceof JsonPastBound) return faultyRow(place, `it ${error.message}`);
    throw error;
  }
  const value = unwraps ? unwrapped(parsedLine) : parsedLine;
  if (Array.isArray(value) || (value === undefined && source.trimStart().startsWith('['))) {
    return faultyRow(place, 'it is a JSON list; write each object on its own line, without the list');
  }
  if (value === undefined) return faultyRow(place, 'it is not valid JSON');
  if (!isJsonObject(value)) return faultyRow(place, 'it is not a JSON object');
  const { [ID_COLUMN]: rowId, ...fields } = value;
  const id = rowId instanceof Literal ? rowId.source : rowId;
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    return faultyRow(place, 'its id is neither text nor a number');
  }
  try {
    const inputs = separateImages(fields, jsonInputs(fields, ''));
    return { ...readableRow(place, id, inputs), cells: inputCells(id, inputs) };
  } catch (error) {
    if (error instanceof CliError) return faultyRow(place, error.message, id);
    throw error;
  }
}

/** Returns the item of a row of OpenAI's Evals, which may also have a recorded answer (`sample`) and an id. */
function unwrapped(value: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(value['item']) || value['item'] instanceof Literal) return value;
  const { item, sample: _, id, ...others } = value;
  if (Object.keys(others).length > 0) return value;
  return id === undefined ? item : { id, ...item };
}

function inputCells(id: string | undefined, { text, images }: CollectedInputs): Record<string, string> {
  return Object.fromEntries([
    ...(id === undefined ? [] : [[ID_COLUMN, id] as const]),
    ...text,
    ...images.map((image, index) => [`image${index + 1}`, image] as const),
  ]);
}

/** Moves `image`, `image1` and so on of a flat map to the images, as in a CSV file. */
function separateImages(fields: UncheckedObject, inputs: CollectedInputs): CollectedInputs {
  if (isNested(fields)) return inputs;
  const images = [...inputs.text]
    .flatMap(([key, image]) => {
      const order = imageColumnOrder(key);
      return order === undefined ? [] : [{ image, order }];
    })
    .sort((one, other) => one.order - other.order);
  const text = [...inputs.text].filter(([key]) => imageColumnOrder(key) === undefined);
  return { text: new Map(text), images: images.map(({ image }) => image) };
}
