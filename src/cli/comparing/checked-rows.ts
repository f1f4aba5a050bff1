import type { Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { createImageOpener, type ImageOpener } from '../inputs/images/image-source.ts';
import {
  openImages,
  openNamedImages,
  placeAndCheckInputs,
  type UnplacedInputs,
  withCommonInputs,
} from '../inputs/images/place-images.ts';
import { createNamedImageOpener } from '../inputs/named-file.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import { computeRequestDigest, type RunRequest } from '../inputs/request-body.ts';
import { isFaulty, type ReadableRow, toReadableRow } from '../inputs/rows/row.ts';
import {
  getRowsFolder,
  openRowSource,
  readRows,
  type SourceFlags,
} from '../inputs/rows/row-source.ts';
import type { TestCase } from '../testing/cases/test-case.ts';
import type { ComparedRow } from './compared-row.ts';
import type { Variant } from './create-variants.ts';

/** The only row if all inputs come from the command line. */
const ONLY_ROW = toReadableRow({ row: 1, line: 1 }, undefined, { text: new Map(), images: [] });

/** The inputs that all rows share. */
export interface CommonInputs extends UnplacedInputs {
  readonly options: ReadonlyMap<string, string>;
}

/** A row that every variant accepts. */
export interface CheckedRow extends Omit<ComparedRow, 'results'> {
  /** The request to each variant, in order. */
  readonly requests: readonly RunRequest[];
}

/**
 * Reads every row and checks it against every variant. Sends nothing. Without `from`, the shared
 * inputs are the only row.
 *
 * @throws {CliError} USAGE_ERROR with the line of the first invalid row
 */
export async function readCheckedRows(
  ctx: Context,
  { from, ...formatFlags }: Omit<SourceFlags, 'from'> & { readonly from: string | undefined },
  common: CommonInputs,
  variants: readonly Variant[],
): Promise<CheckedRow[]> {
  if (from === undefined) {
    requireInputs(common, variants);
    const opener = createImageOpener(ctx);
    return [await checkComparedRow(ONLY_ROW, common, variants, { common: opener, row: opener })];
  }

  const source = await openRowSource(ctx, { from, ...formatFlags });
  const openers = {
    common: createImageOpener(ctx),
    row: createNamedImageOpener(
      ctx,
      getRowsFolder(ctx, { from, allowOutside: ctx.globals.allowOutside }),
    ),
  };

  // Rows of OpenAI's Evals wrap their fields in `item`, unless a variant has an input of that name.
  const variantFields = variants.map(({ config }) => readInputFields(config));
  const fieldsWithItem = variantFields.find(({ text }) => text.some(({ key }) => key === 'item'));

  const rows: CheckedRow[] = [];
  for await (const row of readRows(source, ctx.signal, fieldsWithItem ?? variantFields[0])) {
    const location = `${source.name}:${row.line}`;
    if (isFaulty(row)) throw usageError(`${location}: ${row.fault}`);
    try {
      rows.push(await checkComparedRow(row, common, variants, openers));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      throw usageError(`${location}: ${error.message}`, ...error.hints);
    }
  }

  if (rows.length === 0) throw usageError(`--from: ${source.name} has no rows`);
  return rows;
}

/**
 * Refuses a row without inputs, unless it is clear that no variant takes any.
 *
 * @throws {CliError} USAGE_ERROR
 */
function requireInputs({ text, images }: CommonInputs, variants: readonly Variant[]): void {
  if (text.size + images.length > 0) return;

  const takesNoInputs = ({ config }: Variant): boolean => {
    const fields = readInputFields(config);
    return fields.isKnown && fields.text.length + fields.images.length === 0;
  };

  if (variants.every(takesNoInputs)) return;
  throw usageError(
    'compare needs a row of inputs',
    'Give --from <file>, or the inputs of one row with -i.',
  );
}

/** Returns the digest of a row's inputs, as the first variant takes them, without its options. */
export function computeInputsDigest({ requests }: CheckedRow): string | undefined {
  const [request] = requests;
  return request && computeRequestDigest({ ...request, options: new Map() });
}

/** Returns the digest of a case's inputs. @throws {CliError} if the variant does not accept them */
export async function computeCaseDigest(
  ctx: Context,
  variant: Variant,
  { text, images, folder }: TestCase,
): Promise<string> {
  const opener = createNamedImageOpener(ctx, folder ?? { cwd: ctx.cwd, allowOutside: false });
  const noCommonInputs = { text: new Map(), images: [], options: new Map() };
  const openers = { common: opener, row: opener };
  return computeRequestDigest(
    await buildVariantRequest(variant, { text, images }, noCommonInputs, openers),
  );
}

/** The openers of images on the command line and in rows. */
interface ImageOpeners {
  readonly common: ImageOpener;
  readonly row: ImageOpener;
}

async function checkComparedRow(
  { row, id, inputs: { text, images: namedImages } }: ReadableRow,
  common: CommonInputs,
  variants: readonly Variant[],
  openers: ImageOpeners,
): Promise<CheckedRow> {
  const images = await openImages(openers.row, namedImages);
  const requests: RunRequest[] = [];
  for (const variant of variants) {
    const request = buildVariantRequest(variant, { text, images }, common, openers).catch(
      (error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        throw usageError(`${error.message} (${variant.name})`, ...error.hints);
      },
    );
    requests.push(await request);
  }

  return { row, id, inputs: Object.fromEntries([...text, ...common.text]), requests };
}

async function buildVariantRequest(
  { config, promptVersionId, model }: Variant,
  rowInputs: UnplacedInputs,
  commonInputs: CommonInputs,
  openers: ImageOpeners,
): Promise<RunRequest> {
  const fields = readInputFields(config);
  const inputs = withCommonInputs(
    await openNamedImages(fields, commonInputs, openers.common),
    await openNamedImages(fields, rowInputs, openers.row),
  );
  const request = {
    promptVersionId,
    ...placeAndCheckInputs(fields, inputs),
    options: commonInputs.options,
  };
  return model === undefined ? request : { ...request, model };
}
