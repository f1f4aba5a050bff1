import { describe, expect, test } from 'vitest';
import { type PreparedBatch, prepareRow } from '../../../src/cli/batch/prepare-batch.ts';
import { describeConfig } from '../../../src/cli/inputs/describe-config.ts';
import type { ImageSource } from '../../../src/cli/inputs/images/image-source.ts';
import type { RunRequest } from '../../../src/cli/inputs/request-body.ts';
import { toReadableRow } from '../../../src/cli/inputs/rows/row.ts';
import { testContext } from '../../support/context.ts';

const picture = (name: string): string => `https://pictures.test/${name}.png`;

/** Returns the request of a row with these inputs, for a prompt with this config. */
async function requestForRow(
  row: { id?: string; text?: Record<string, string>; images?: readonly string[] },
  batch: { config?: unknown; text?: Record<string, string>; images?: readonly ImageSource[] } = {},
): Promise<RunRequest> {
  const { ctx } = await testContext();
  const prepared = {
    promptVersionId: 'a-version',
    fields: describeConfig(batch.config ?? {}),
    common: {
      text: new Map(Object.entries(batch.text ?? {})),
      images: (batch.images ?? []).map(image => ({ image })),
    },
    runOptions: new Map([['quality', 'high']]),
    ignoredColumns: [],
    folder: { cwd: ctx.cwd, allowOutside: false },
  } as unknown as PreparedBatch;

  const inputs = { text: new Map(Object.entries(row.text ?? {})), images: row.images ?? [] };
  return prepareRow(ctx, prepared, toReadableRow({ row: 3, line: 4 }, row.id, inputs));
}

describe('the request of a row', () => {
  test("an input on the command line wins over the row's own", async () => {
    const { text } = await requestForRow(
      { text: { name: 'Ada', mood: 'sunny' } },
      { text: { mood: 'rainy' } },
    );
    expect(Object.fromEntries(text)).toEqual({ name: 'Ada', mood: 'rainy' });
  });

  test("images on the command line come before the row's own", async () => {
    const shared: ImageSource = { kind: 'url', url: picture('shared'), name: 'shared' };
    const { images } = await requestForRow({ images: [picture('own')] }, { images: [shared] });
    expect(images.map(image => image.kind === 'url' && image.url)).toEqual([
      picture('shared'),
      picture('own'),
    ]);
  });

  test('run options are those of every row', async () => {
    expect([...(await requestForRow({})).options]).toEqual([['quality', 'high']]);
  });

  test('the id is an input only if the prompt has one of that name', async () => {
    const config = { textInputs: { id: { type: 'string', required: true } }, imageInputs: [] };
    expect((await requestForRow({ id: 'a' }, { config })).text.get('id')).toBe('a');
    expect((await requestForRow({ id: 'a' })).text.has('id')).toBe(false);
    await expect(requestForRow({}, { config })).rejects.toThrow('missing input: id');
  });
});
