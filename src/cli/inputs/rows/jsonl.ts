import { splitIntoLines } from '../../../files/formats/text-lines.ts';
import { isJsonObject, JsonLimitError, type UncheckedObject } from '../../../utils/bounded-json.ts';
import { CliError } from '../../core/errors.ts';
import { Literal, parseJsonAsWritten } from '../json-as-written.ts';
import { type CollectedInputs, isNested, readJsonInputs } from '../text-inputs.ts';
import {
  findImageColumnOrder,
  ID_COLUMN,
  type ReadableRow,
  type RowPosition,
  type SourceRow,
  toFaultyRow,
  toReadableRow,
} from './row.ts';

/**
 * Yields the rows of a file with one JSON object per line; skips blank lines.
 *
 * @param options `unwrapsItems`: true to take `{"item": {…}}`, the form of OpenAI's Evals, as the row in
 * `item`; default false
 */
export async function* readJsonl(
  text: AsyncIterable<string>,
  { unwrapsItems = false } = {},
): AsyncGenerator<SourceRow> {
  let row = 0;
  for await (const { text: source, line } of splitIntoLines(text)) {
    if (source.trim() !== '') {
      row += 1;
      yield readObject(source, { row, line }, { unwrapsItems });
    }
  }
}

function readObject(
  source: string,
  position: RowPosition,
  { unwrapsItems }: { readonly unwrapsItems: boolean },
): SourceRow {
  let parsedLine: unknown;
  try {
    parsedLine = parseJsonAsWritten(source);
  } catch (error) {
    if (error instanceof JsonLimitError) return toFaultyRow(position, `it ${error.message}`);
    throw error;
  }

  const value = unwrapsItems ? unwrapItem(parsedLine) : parsedLine;
  if (Array.isArray(value) || (value === undefined && source.trimStart().startsWith('['))) {
    return toFaultyRow(
      position,
      'it is a JSON list; write each object on its own line, without the list',
    );
  }

  if (value === undefined) return toFaultyRow(position, 'it is not valid JSON');
  if (!isJsonObject(value)) return toFaultyRow(position, 'it is not a JSON object');

  const { [ID_COLUMN]: rowId, ...fields } = value;
  const id = rowId instanceof Literal ? rowId.source : rowId;
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    return toFaultyRow(position, 'its id is neither text nor a number');
  }

  try {
    const { inputs, imageColumns } = separateImages(fields, readJsonInputs(fields, ''));
    return {
      ...toReadableRow(position, id, inputs),
      cells: toInputCells(id, inputs),
      ...(imageColumns !== undefined && { imageColumns }),
    };
  } catch (error) {
    if (error instanceof CliError) return toFaultyRow(position, error.message, id);
    throw error;
  }
}

/**
 * Returns the item of a row of OpenAI's Evals, which may also have a recorded answer (`sample`) and
 * an id.
 */
function unwrapItem(value: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(value['item']) || value['item'] instanceof Literal) {
    return value;
  }
  const { item, sample: _, id, ...otherFields } = value;
  if (Object.keys(otherFields).length > 0) return value;
  return id === undefined ? item : { id, ...item };
}

function toInputCells(
  id: string | undefined,
  { text, images }: CollectedInputs,
): Record<string, string> {
  const cells = new Map<string, string>();
  if (id !== undefined) cells.set(ID_COLUMN, id);
  for (const [key, value] of text) cells.set(key, value);
  for (const [index, image] of images.entries()) cells.set(`image${index + 1}`, image);
  return Object.fromEntries(cells);
}

/** Moves `image`, `image1` and so on of a flat map to the images, as in a CSV file. */
function separateImages(
  fields: UncheckedObject,
  inputs: CollectedInputs,
): Pick<ReadableRow, 'inputs' | 'imageColumns'> {
  if (isNested(fields)) return { inputs };
  const images = [...inputs.text]
    .flatMap(([name, image]) => {
      const order = findImageColumnOrder(name);
      return order === undefined ? [] : [{ name, image, order }];
    })
    .sort((one, other) => one.order - other.order);

  const text = [...inputs.text].filter(([key]) => findImageColumnOrder(key) === undefined);
  return {
    inputs: { text: new Map(text), images: images.map(({ image }) => image) },
    imageColumns: images.map(({ name }) => name),
  };
}
