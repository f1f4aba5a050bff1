import type { Context } from '../context.ts';
import type { RunRequest } from '../inputs/body.ts';
import { checkInputs } from '../inputs/check-inputs.ts';
import { openImages } from '../inputs/images.ts';
import type { PreparedBatch } from './prepare.ts';
import { ID_COLUMN, type ReadableRow } from './row.ts';

/** The request of a row, checked as far as it can be without sending it. @throws {CliError} for what is wrong with it */
export async function prepareRow(ctx: Context, batch: PreparedBatch, row: ReadableRow): Promise<RunRequest> {
  const text = textOf(batch, row);
  const images = batch.images.length + row.inputs.images.length;
  checkInputs(batch.fields, { text, images });
  return {
    promptVersionId: batch.promptVersionId,
    text,
    images: [...batch.images, ...(await openImages(ctx, row.inputs.images))],
    options: batch.runOptions,
  };
}

/** A row's id is an input as well where the prompt is known to ask for one of that name. */
function textOf({ fields, text }: PreparedBatch, { inputs, named, id }: ReadableRow): Map<string, string> {
  const isInput = named && fields.text.some(({ key }) => key === ID_COLUMN);
  return new Map([...inputs.text, ...(isInput ? [[ID_COLUMN, id] as const] : []), ...text]);
}
