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
const EMPTY: RunRequest = { promptVersionId, text: new Map(), images: [], options: new Map() };

async function readBytes({ body }: RunBody): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body.chunks()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function parsed(request: RunRequest): Promise<unknown> {
  return JSON.parse((await readBytes(buildRunBody(request))).toString()) as unknown;
}

function image(bytes: Uint8Array): ImageSource {
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

const bytes = fc.uint8Array({ maxLength: 100 });

const map = fc
  .array(fc.tuple(fc.oneof(anyText(), fc.constant('__proto__')), anyText()))
  .map(entries => new Map(entries));

describe('the body of a run', () => {
  it('leaves out what is empty', async () => {
    expect(await parsed(EMPTY)).toEqual({ promptVersionId, inputs: {} });
  });

  it('is the JSON of the inputs, as long as announced, whatever the images contain', async () => {
    await fc.assert(
      fc.asyncProperty(
        map,
        map,
        fc.array(bytes, { maxLength: 3 }),
        async (text, options, images) => {
          const request = { ...EMPTY, text, options, images: images.map(image) };
          const body = buildRunBody(request);
          const bytes = await readBytes(body);

          expect(bytes.length).toBe(body.body.length);
          expect(await body.readRequest()).toEqual(JSON.parse(bytes.toString()));
          expect(JSON.parse(bytes.toString())).toEqual({
            promptVersionId,
            inputs: {
              ...(text.size > 0 && { textInputs: Object.fromEntries(text) }),
              ...(images.length > 0 && {
                imageInputs: images.map(pieces => ({
                  type: 'base64',
                  base64: Buffer.from(pieces).toString('base64'),
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
    const body = buildRunBody({ ...EMPTY, images: [image(Buffer.from('abcd'))] });
    const first = await readBytes(body);
    expect(await readBytes(body)).toEqual(first);
  });

  it('sends URLs as they are', async () => {
    const url = 'https://example.com/a.png?b="c"';
    expect(await parsed({ ...EMPTY, images: [{ kind: 'url', url, name: url }] })).toEqual({
      promptVersionId,
      inputs: { imageInputs: [{ type: 'url', url }] },
    });
  });
});

describe('the digest', () => {
  const digest = (request: Partial<RunRequest>): string =>
    buildRunBody({ ...EMPTY, ...request }).digest;

  it('does not depend on the order of the inputs, but on each of them', () => {
    const one = new Map([
      ['a', '1'],
      ['b', '2'],
    ]);
    const same = new Map([
      ['b', '2'],
      ['a', '1'],
    ]);

    expect(digest({ text: one })).toBe(digest({ text: same }));
    expect(digest({ text: one })).not.toBe(digest({ options: one }));
    expect(digest({ text: one })).not.toBe(
      digest({
        text: new Map([
          ['a', '1'],
          ['b', '3'],
        ]),
      }),
    );
  });
});
