import { didYouMean } from '../../utils/nearest-name.ts';
import type { Connection, Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { checkModelAccess } from '../creation/creation-result.ts';
import { checkCostCap } from '../creation/spending/caps.ts';
import { type InputHints, NO_VALIDATE_HINTS } from '../inputs/check-inputs.ts';
import { checkOptions, parseOptions } from '../inputs/flag-values.ts';
import { createImageOpener } from '../inputs/images/image-source.ts';
import {
  openImages,
  openNamedImages,
  placeAndCheckInputs,
  type UnplacedInputs,
  withCommonInputs,
} from '../inputs/images/place-images.ts';
import type { InputFields } from '../inputs/input-fields.ts';
import { createNamedImageOpener, type NamingFolder } from '../inputs/named-file.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import type { RunRequest } from '../inputs/request-body.ts';
import {
  findImageColumnOrder,
  ID_COLUMN,
  type ReadableRow,
  type SourceRow,
} from '../inputs/rows/row.ts';
import { getRowsFolder, type RowSource } from '../inputs/rows/row-source.ts';
import { collectInputs } from '../inputs/text-inputs.ts';
import { createPacedConnection } from '../jobs/paced-connection.ts';
import { getTargetConnection } from '../targets/prompt-file.ts';
import { readVersion, resolveTarget } from '../targets/resolve-target.ts';
import { quoteIfNeeded } from '../terminal/shell-words.ts';
import type { BatchOptions } from './batch-options.ts';

const ROW_INPUT_HINTS: InputHints = {
  text: key => `in a column or field ${key}, or for all rows with -i ${key}=…`,
  image: name => `in a column or field ${name}, or for all rows with --image ${name}=<file>`,
};

/** The parts of a batch that all rows share. */
export interface PreparedBatch {
  readonly connection: Connection;
  readonly promptVersionId: string;
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
  readonly fields: InputFields;
  /** The inputs that all rows share, such as those of `--input`. */
  readonly commonInputs: UnplacedInputs;
  readonly runOptions: ReadonlyMap<string, string>;
  readonly ignoredColumns: readonly string[];
  /** The folder of the files that rows name. */
  readonly folder: NamingFolder;
}

/** Reads and checks everything but the rows. The rate limit holds from here on. */
export async function prepareBatch(ctx: Context, options: BatchOptions): Promise<PreparedBatch> {
  const runOptions = parseOptions(options.runOptions);
  const { text, images } = await collectInputs(ctx, options);
  const imageOpener = createImageOpener(ctx);
  const openedImages = await openImages(imageOpener, images);
  const unpacedConnection = await getTargetConnection(ctx, options.target);
  checkCostCap(options.caps, unpacedConnection);
  const connection = createPacedConnection(ctx, unpacedConnection, options.rate);
  const resolvedTarget = await resolveTarget(ctx, connection, options.target, {
    source: 'command line',
    model: options.model,
  });
  const { promptVersionId, config } = await readVersion(ctx, connection, resolvedTarget);
  await checkModelAccess(connection, promptVersionId);
  if (options.validate) {
    await checkOptions(ctx, connection, {
      promptVersionId,
      options: runOptions,
      bypassHints: NO_VALIDATE_HINTS,
    });
  }
  const fields = readInputFields(config);

  return {
    connection,
    promptVersionId,
    estimatedCredits: resolvedTarget.estimatedCredits,
    fields,
    commonInputs: await openNamedImages(fields, { text, images: openedImages }, imageOpener),
    runOptions,
    ignoredColumns: options.ignoredColumns,
    folder: getRowsFolder(ctx, options),
  };
}

/**
 * Returns the request of a row after all checks that don't need the service.
 *
 * @throws {CliError} if the row is invalid
 */
export async function prepareRow(
  ctx: Context,
  batch: PreparedBatch,
  row: ReadableRow,
): Promise<RunRequest> {
  const { fields, promptVersionId, runOptions } = batch;
  const rowImageOpener = createNamedImageOpener(ctx, batch.folder);
  const writtenInputs = {
    text: pickTextInputs(batch, row),
    images: await openImages(rowImageOpener, pickImages(batch, row)),
  };
  const rowInputs = await openNamedImages(fields, writtenInputs, rowImageOpener);

  return {
    promptVersionId,
    ...placeAndCheckInputs(
      fields,
      withCommonInputs(batch.commonInputs, rowInputs),
      ROW_INPUT_HINTS,
    ),
    options: runOptions,
  };
}

/**
 * Returns the text inputs of a row. Its id is an input too if the prompt is known to have an input
 * of that name.
 */
function pickTextInputs(
  batch: PreparedBatch,
  { inputs, hasOwnId, id }: ReadableRow,
): Map<string, string> {
  const takesId = hasOwnId && batch.fields.text.some(({ key }) => key === ID_COLUMN);
  const texts = [...inputs.text].filter(([name]) => !isIgnoredColumn(batch, name));
  return new Map([...texts, ...(takesId ? [[ID_COLUMN, id] as const] : [])]);
}

function pickImages(
  batch: PreparedBatch,
  { inputs, imageColumns = [] }: ReadableRow,
): readonly string[] {
  return inputs.images.filter(
    (_, index) => !isIgnoredColumn(batch, imageColumns[index] ?? `image${index + 1}`),
  );
}

function isIgnoredColumn({ ignoredColumns, fields }: PreparedBatch, name: string): boolean {
  if (ignoredColumns.includes(name)) return true;
  const takesImages = fields.images.length > 0 && findImageColumnOrder(name) !== undefined;
  return (
    ignoredColumns.includes('*') &&
    fields.isKnown &&
    !takesImages &&
    !listInputNames(fields).includes(name)
  );
}

function listInputNames({ text, images }: InputFields): string[] {
  return [...text.map(({ key }) => key), ...images.flatMap(({ name }) => name ?? [])];
}

/**
 * Refuses a CSV file with a column that the prompt has no input for, because every row would fail.
 *
 * @param row the first row of the file
 * @throws {CliError} USAGE_ERROR
 */
export function throwIfStrayColumn(batch: PreparedBatch, source: RowSource, row: SourceRow): void {
  const { fields } = batch;
  if (source.format !== 'csv' || !fields.isKnown) return;

  const keys = listInputNames(fields);
  const strayCell = Object.entries(row.cells ?? {}).find(
    ([name, value]) =>
      value !== '' &&
      name !== ID_COLUMN &&
      findImageColumnOrder(name) === undefined &&
      !keys.includes(name) &&
      !isIgnoredColumn(batch, name),
  );
  if (strayCell !== undefined) {
    const [name] = strayCell;
    const hints = [
      `Nothing was started. Its inputs: ${keys.join(', ') || 'none'}. To ignore the column, add --ignore-columns ${quoteIfNeeded(name)}.`,
    ];
    const [separator] = /[|:~^]/u.exec(name) ?? [];
    if (separator !== undefined) {
      hints.push(
        `If ${separator} separates the columns, add --delimiter ${quoteIfNeeded(separator)}.`,
      );
    }
    throw usageError(
      `${source.name}: the prompt has no input for the column ${JSON.stringify(name)}${didYouMean(name, keys)}`,
      ...hints,
    );
  }
}
