import { describe, expect, it } from 'vitest';
import { createEngines } from '../../../src/models/engines.ts';
import { BUILT_IN_MODELS } from '../../../src/models/model-entry.ts';
import { png } from '../../support/png.ts';
import { createJob } from '../job.ts';

const { echo, sandbox, card } = createEngines({ dataDir: 'nowhere', env: {} });

describe('echo', () => {
  it('returns the prompt, with blank lines between roles and pictures in words', async () => {
    const template = '{{role "system"}}Be brief.{{role "user"}}See {{media url=p}}!';
    const { outputs, tokens, hasFailed } = await echo.run(
      createJob({ template, images: [png(4, 5)] }),
    );

    expect(outputs).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(
          /^Be brief\.\n\nSee PNG image, 4 × 5 pixels, \d+ bytes!$/,
        ) as unknown,
      },
    ]);

    expect(tokens).toBeGreaterThan(1);
    expect(hasFailed).toBe(false);
  });
});

describe('sandbox', () => {
  it('waits for the requested time', async () => {
    const slept: number[] = [];
    const sleep = async (ms: number): Promise<void> => void slept.push(ms);

    const delays =
      BUILT_IN_MODELS.find(({ model }) => model === 'sandbox')?.runOptions[0]?.options ?? [];
    for (const delaySeconds of delays) {
      await sandbox.run(createJob({ runOptions: { delaySeconds }, sleep }));
    }

    expect(slept).toEqual([1000, 5000, 30_000, 130_000]);
  });

  it('stops waiting with the run', async () => {
    const sleep = (_: number, signal: AbortSignal): Promise<never> =>
      Promise.reject(signal.reason as Error);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(
      sandbox.run(createJob({ runOptions: { delaySeconds: '5' }, sleep, signal })),
    ).rejects.toThrow('stopped');
  });

  it.each([
    [{}, ['text']],
    [{ outcome: 'succeeded' }, ['text']],
    [{ outcome: 'partial' }, ['text', 'error']],
  ])('succeeds as its options say: %j', async (runOptions, types) => {
    const { outputs, hasFailed } = await sandbox.run(createJob({ template: 'A note', runOptions }));
    expect(hasFailed).toBe(false);
    expect(outputs.map(({ type }) => type)).toEqual(types);
    expect(outputs[0]).toEqual({ type: 'text', text: 'A note' });
  });

  it('fails if its options say so', async () => {
    const { outputs, hasFailed } = await sandbox.run(
      createJob({ runOptions: { outcome: 'failed' } }),
    );
    expect(hasFailed).toBe(true);
    expect(outputs.map(({ type }) => type)).toEqual(['error']);
  });
});

describe('card', () => {
  it.each([
    [undefined, 1024, 640],
    ['low', 512, 320],
    ['medium', 1024, 640],
    ['high', 2048, 1280],
  ])('draws at quality %s', async (quality, width, height) => {
    const result = await card.run(
      createJob({ runOptions: quality === undefined ? {} : { quality } }),
    );
    const [output] = result.outputs;
    if (output?.type !== 'image') throw new Error('no picture');

    const bytes = Buffer.from(output.bytes);
    expect(output.mediaType).toBe('image/png');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([width, height]);
    expect(result.tokens).toBeGreaterThan(0);
  });
});
