import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { askForInputs } from '../../../src/cli/inputs/ask-for-inputs.ts';
import { openImage } from '../../../src/cli/inputs/images/image-source.ts';
import type { PlacedInputs } from '../../../src/cli/inputs/images/place-images.ts';
import type { InputFields } from '../../../src/cli/inputs/input-fields.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { type Answer, createScriptedPrompter } from '../../support/terminals/scripted-prompter.ts';

const NO_INPUTS: PlacedInputs = { text: new Map(), images: [] };

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let cwd = '';

beforeEach(async () => {
  cwd = createTemporaryDirectory();
  await writeFile(path.join(cwd, 'cat.png'), PNG);
  await writeFile(path.join(cwd, 'cat.txt'), 'no picture');
});

/** Asks a scripted person, who has to be asked for each answer, and returns what came of it. */
async function ask(
  fields: Partial<InputFields>,
  suppliedInputs: Partial<PlacedInputs>,
  ...answers: readonly Answer[]
) {
  const prompter = createScriptedPrompter(...answers);
  const ctx = {
    prompter: async () => prompter,
    signal: new AbortController().signal,
    cwd,
  } as unknown as Context;

  const allFields = { isKnown: true, text: [], images: [], ...fields };
  const { inputs, answers: acceptedAnswers } = await askForInputs(ctx, allFields, {
    ...NO_INPUTS,
    ...suppliedInputs,
  });
  prompter.verify();
  const files = inputs.images.map(image => image?.name);

  return {
    text: Object.fromEntries(inputs.text),
    images: acceptedAnswers.images,
    files,
    asked: prompter.asked,
  };
}

describe('asking for texts', () => {
  it('asks for each missing input, with description and default', async () => {
    const text = [
      { key: 'name', description: 'Who', required: true },
      { key: 'tone', required: false, default: 'warm' },
      { key: 'topic', required: true },
    ];
    const supplied = { text: new Map([['topic', 'tea']]) };
    expect(await ask({ text }, supplied, ['name', '', 'Ada'], ['tone', ''])).toEqual({
      text: { topic: 'tea', name: 'Ada', tone: 'warm' },
      images: [],
      files: [],
      asked: ['name: Who', '  needed', 'tone'],
    });
  });

  it('leaves out an optional input that is left empty', async () => {
    const text = [{ key: 'note', required: false }];
    expect((await ask({ text }, {}, ['note', ''])).text).toEqual({});
  });

  it('offers the choices, and no choice only for an optional input', async () => {
    const choices = ['a', 'b'];
    const text = [
      { key: 'x', required: true, choices },
      { key: 'y', required: false, choices },
      { key: 'z', required: false, choices, default: 'b' },
      { key: 'odd', required: false, choices, default: 'c' },
    ];

    const answers = [
      ['x', 'b'],
      ['y', '(none)'],
      ['z', ''],
      ['odd', '(default: c)'],
    ] as const;
    expect((await ask({ text }, {}, ...answers)).text).toEqual({ x: 'b', z: 'b' });
    await expect(ask({ text }, {}, ['x', '(none)'])).rejects.toThrow('(none) is none of a, b');
  });

  it('asks for each input by its type and returns the answer as text', async () => {
    const text = [
      { key: 'ratio', required: true, type: 'number' },
      { key: 'count', required: false, type: 'integer', default: '3' },
      { key: 'none', required: false, type: 'number' },
      { key: 'loud', required: true, type: 'boolean' },
      { key: 'calm', required: false, type: 'boolean', default: 'true' },
      { key: 'tags', required: true, type: 'array' },
      { key: 'sizes', required: true, type: 'array', items: 'number' },
      { key: 'no tags', required: false, type: 'array' },
      { key: 'meta', required: true, type: 'object' },
      { key: 'tone', required: true, choices: ['w'], labels: new Map([['w', 'Warm']]) },
    ] as const;
    const answers = [
      ['ratio', 'two', '2.5'],
      ['count', '1.5', ''],
      ['none', ''],
      ['loud', 'yes'],
      ['calm', ''],
      ['tags', 'a', 'b'],
      ['sizes', '1', '2'],
      ['no tags'],
      ['meta', '{', '{"a": 1}'],
      ['tone', 'Warm'],
    ] as const;
    expect((await ask({ text }, {}, ...answers)).text).toEqual({
      ratio: '2.5',
      count: '3',
      loud: 'true',
      calm: 'true',
      tags: '["a","b"]',
      sizes: '[1,2]',
      meta: '{"a": 1}',
      tone: 'w',
    });
  });

  it('joins several choices, whose limits are those of the choices that exist', async () => {
    const choices = ['a', 'b', 'c'];
    const text = [
      { key: 'x', required: true, choices, multiple: { min: 1, max: 2 } },
      { key: 'y', required: false, choices, multiple: {}, default: 'a, c' },
      { key: 'z', required: true, choices, multiple: { min: 9, max: 1 } },
      { key: 'none', required: false, choices, multiple: {} },
    ];

    const answers = [
      ['x', ['a', 'c']],
      ['y', ''],
      ['z', ['a', 'b', 'c']],
      ['none', []],
    ] as const;
    const { text: chosenTexts, asked } = await ask({ text }, {}, ...answers);

    expect(chosenTexts).toEqual({ x: 'a, c', y: 'a, c', z: 'a, b, c' });
    expect(asked).toEqual([
      'x: (from 1 to 2)',
      'y: (any number)',
      'z: (exactly 3)',
      'none: (any number)',
    ]);
  });
});

describe('asking for images', () => {
  it('asks for the missing ones, and refuses an answer that is not an image at once', async () => {
    const images = [{ description: 'A cat' }, { description: 'A dog' }];
    const first = await openImage({ cwd } as Context, 'cat.png');
    const result = await ask({ images }, { images: [first] }, [
      'image 2 of 2',
      'none.png',
      'cat.txt',
      '-',
      'http://example.com/x.png',
      'cat.png',
    ]);

    expect(result.images).toEqual(['cat.png']);
    expect(result.files).toEqual(['cat.png', 'cat.png']);
    expect(result.asked[0]).toBe('image 2 of 2: A dog');
    expect(result.asked.slice(1)).toEqual([
      expect.stringContaining('none.png'),
      expect.stringContaining('not an image'),
      expect.stringContaining('terminal'),
      expect.stringContaining('https'),
    ]);
  });

  it('asks for a named image by its name, even before one from a flag', async () => {
    const images = [{ name: 'photo' }, { name: 'frame' }];
    const frame = await openImage({ cwd } as Context, 'cat.png');
    const result = await ask({ images }, { images: [undefined, frame] }, ['photo', 'cat.png']);
    expect(result.images).toEqual(['photo=cat.png']);
    expect(result.files).toEqual(['cat.png', 'cat.png']);
  });

  it('takes an https URL', async () => {
    const url = 'https://example.com/x.png';
    expect((await ask({ images: [{}] }, {}, ['image', url])).images).toEqual([url]);
  });
});

describe("a prompt that doesn't describe its inputs", () => {
  it('takes pairs until an empty line, like --input', async () => {
    await writeFile(path.join(cwd, 'story.txt'), 'Once');
    const result = await ask(
      { isKnown: false },
      {},
      ['input', 'topic', 'topic=the sea = deep'],
      ['input', 'story=@none.txt', 'story=@-', 'story=@story.txt'],
      ['input', 'at=@@me'],
      ['input', ''],
    );
    expect(result.text).toEqual({ topic: 'the sea = deep', story: 'Once', at: '@me' });
    expect(result.asked[0]).toContain('an empty line');
  });

  it('asks nothing if inputs were supplied', async () => {
    const supplied = { text: new Map([['a', 'b']]) };
    expect(await ask({ isKnown: false }, supplied)).toMatchObject({ text: { a: 'b' }, asked: [] });
  });
});
