import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImageSource } from '../../../src/cli/inputs/images/image-source.ts';
import {
  buildRunBody,
  type RunBody,
  type RunRequest,
} from '../../../src/cli/inputs/request-body.ts';
import { anyText } from '../../support/any-text.ts';

const promptVersionId = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const EMPTY_REQUEST: RunRequest = {
  promptVersionId,
  text: new Map(),
  images: [],
  options: new Map(),
};

async function readBytes({ body }: RunBody): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body.chunks()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function parseBody(request: RunRequest): Promise<unknown> {
  return JSON.parse((await readBytes(buildRunBody(request))).toString()) as unknown;
}

function createImage(bytes: Uint8Array): ImageSource {
  return {
    kind: 'bytes',
    name: 'x',
    size: bytes.length,
    sha256: 'x',
    async *chunks() {
      yield Buffer.from(bytes);
    },
  };
}

const anyBytes = fc.uint8Array({ maxLength: 100 });

const anyMap = fc
  .array(fc.tuple(fc.oneof(anyText(), fc.constant('__proto__')), anyText()))
  .map(entries => new Map(entries));

describe('the body of a run', () => {
  it('leaves out empty fields', async () => {
    expect(await parseBody(EMPTY_REQUEST)).toEqual({ promptVersionId, inputs: {} });
  });

  it('is the JSON of the request, of the announced length, whatever the images contain', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyMap,
        anyMap,
        fc.array(anyBytes, { maxLength: 3 }),
        async (text, options, images) => {
          const request = { ...EMPTY_REQUEST, text, options, images: images.map(createImage) };
          const runBody = buildRunBody(request);
          const bytes = await readBytes(runBody);

          expect(bytes.length).toBe(runBody.body.length);
          expect(await runBody.readRequest()).toEqual(JSON.parse(bytes.toString()));
          expect(JSON.parse(bytes.toString())).toEqual({
            promptVersionId,
            inputs: {
              ...(text.size > 0 && { textInputs: Object.fromEntries(text) }),
              ...(images.length > 0 && {
                imageInputs: images.map(image => ({
                  type: 'base64',
                  base64: Buffer.from(image).toString('base64'),
                })),
              }),
            },
            ...(options.size > 0 && { runOptions: Object.fromEntries(options) }),
          });
        },
      ),
    );
  });

  it('can be sent again from the start', async () => {
    const body = buildRunBody({ ...EMPTY_REQUEST, images: [createImage(Buffer.from('abcd'))] });
    const firstBytes = await readBytes(body);
    expect(firstBytes.toString()).toContain('YWJjZA==');
    expect(await readBytes(body)).toEqual(firstBytes);
  });

  it('contains URLs unchanged', async () => {
    const url = 'https://example.com/a.png?b="c"';
    expect(
      await parseBody({ ...EMPTY_REQUEST, images: [{ kind: 'url', url, name: url }] }),
    ).toEqual({
      promptVersionId,
      inputs: { imageInputs: [{ type: 'url', url }] },
    });
  });
});

describe('the digest', () => {
  const computeDigest = (request: Partial<RunRequest>): string =>
    buildRunBody({ ...EMPTY_REQUEST, ...request }).digest;

  it('does not depend on the order of the inputs, but on each of them', () => {
    const texts = new Map([
      ['a', '1'],
      ['b', '2'],
    ]);
    const reorderedTexts = new Map([
      ['b', '2'],
      ['a', '1'],
    ]);

    expect(computeDigest({ text: texts })).toBe(computeDigest({ text: reorderedTexts }));
    expect(computeDigest({ text: texts })).not.toBe(computeDigest({ options: texts }));
    expect(computeDigest({ text: texts })).not.toBe(
      computeDigest({
        text: new Map([
          ['a', '1'],
          ['b', '3'],
        ]),
      }),
    );
  });
});
