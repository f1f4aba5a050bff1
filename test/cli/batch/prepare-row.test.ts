import { describe, expect, test } from 'vitest';
import { type PreparedBatch, prepareRow } from '../../../src/cli/batch/prepare-batch.ts';
import type { ImageSource } from '../../../src/cli/inputs/images/image-source.ts';
import { readInputFields } from '../../../src/cli/inputs/read-input-fields.ts';
import type { RunRequest } from '../../../src/cli/inputs/request-body.ts';
import { toReadableRow } from '../../../src/cli/inputs/rows/row.ts';
import { testContext } from '../../support/context.ts';

const picture = (name: string): string => `https://pictures.test/${name}.png`;

/** Prepares a row with these inputs, in a batch with this config and these common inputs. */
async function prepareTestRow(
  row: { id?: string; text?: Record<string, string>; images?: readonly string[] },
  batch: { config?: unknown; text?: Record<string, string>; images?: readonly ImageSource[] } = {},
): Promise<RunRequest> {
  const { ctx } = await testContext();
  const preparedBatch = {
    promptVersionId: 'a-version',
    fields: readInputFields(batch.config ?? {}),
    commonInputs: {
      text: new Map(Object.entries(batch.text ?? {})),
      images: (batch.images ?? []).map(image => ({ image })),
    },
    runOptions: new Map([['quality', 'high']]),
    ignoredColumns: [],
    folder: { cwd: ctx.cwd, allowOutside: false },
  } as unknown as PreparedBatch;

  const inputs = { text: new Map(Object.entries(row.text ?? {})), images: row.images ?? [] };
  return prepareRow(ctx, preparedBatch, toReadableRow({ row: 3, line: 4 }, row.id, inputs));
}

describe('the request of a row', () => {
  test("takes a common input in place of the row's own", async () => {
    const { text } = await prepareTestRow(
      { text: { name: 'Ada', mood: 'sunny' } },
      { text: { mood: 'rainy' } },
    );
    expect(Object.fromEntries(text)).toEqual({ name: 'Ada', mood: 'rainy' });
  });

  test("has the common images before the row's own", async () => {
    const commonImage: ImageSource = { kind: 'url', url: picture('shared'), name: 'shared' };
    const { images } = await prepareTestRow(
      { images: [picture('own')] },
      { images: [commonImage] },
    );
    expect(images.map(image => image.kind === 'url' && image.url)).toEqual([
      picture('shared'),
      picture('own'),
    ]);
  });

  test('has the run options of the batch', async () => {
    expect([...(await prepareTestRow({})).options]).toEqual([['quality', 'high']]);
  });

  test('has the id as an input only if the prompt has an input of that name', async () => {
    const config = { textInputs: { id: { type: 'string', required: true } }, imageInputs: [] };
    expect((await prepareTestRow({ id: 'a' }, { config })).text.get('id')).toBe('a');
    expect((await prepareTestRow({ id: 'a' })).text.has('id')).toBe(false);
    await expect(prepareTestRow({}, { config })).rejects.toThrow('missing input: id');
  });
});
