import { describe, expect, it } from 'vitest';
import { BUILT_IN_MODELS } from '../../../src/service/models/built-in.ts';
import { checkModel } from '../../../src/service/prompts/check-model.ts';
import { InvalidPromptFile } from '../../../src/service/prompts/definition.ts';
import { parsePromptFile, promptConfig, renderPrompt, samples } from '../../../src/service/prompts/index.ts';
import { png } from '../../support/pictures.ts';

const models = {
  list: () => BUILT_IN_MODELS,
  get: (name: string) => BUILT_IN_MODELS.find(({ model }) => model === name),
  explainMissing: (name: string) => `there is no model \`${name}\``,
};
const sample = (slug: string): ReturnType<typeof parsePromptFile> => {
  const source = samples().find(sample => sample.slug === slug)?.source ?? '';
  return parsePromptFile(source, `${slug}.prompt`);
};
const text = (slug: string, textInputs: Record<string, string> = {}, images: Buffer[] = []): string =>
  renderPrompt(sample(slug), { textInputs, images: images.map(bytes => ({ bytes, mediaType: 'image/png' })) })
    .text;

describe('the samples', () => {
  it('run on built-in models and say what they are', () => {
    expect(samples().map(({ slug }) => slug)).toEqual(['hello', 'postcard', 'describe', 'sandbox']);
    for (const { slug } of samples()) {
      const definition = sample(slug);
      checkModel(definition, slug, models);
      expect(definition.title).not.toBe(slug);
      expect(definition.description).not.toBe('');
    }
  });

  it('ask for what they need', () => {
    const config = (slug: string): unknown => {
      const { textInputs, imageInputs } = promptConfig(sample(slug));
      return [
        Object.entries(textInputs).map(([key, { required }]) => `${key}${required ? '' : '?'}`),
        imageInputs.length,
      ];
    };
    expect(config('hello')).toEqual([['name'], 0]);
    expect(config('postcard')).toEqual([['place', 'mood?'], 0]);
    expect(config('describe')).toEqual([[], 1]);
    expect(config('sandbox')).toEqual([['note?'], 0]);
    expect(promptConfig(sample('postcard')).textInputs['mood']).toMatchObject({
      enum: ['sunny', 'rainy', 'snowy'],
      default: 'sunny',
    });
  });

  it('read well', () => {
    expect(text('hello', { name: 'Ada' })).toBe('Hello, Ada! A pleasant day to you.');
    expect(text('sandbox')).toBe('The rehearsal is over.');
    expect(text('sandbox', { note: 'one' })).toBe('The rehearsal is over. You noted: one');
    expect(text('describe', {}, [png(8, 9)])).toMatch(
      /^This is what you sent: PNG image, 8 × 9 pixels, \d+ bytes\.$/,
    );
    expect(text('postcard', { place: 'Oslo', mood: 'rainy' })).toBe(
      'Greetings from Oslo!\n\nIt rains and rains, and the cafés are the nicer for it.\n\nWish you were here.',
    );
    expect(text('postcard', { place: 'Oslo' })).toContain('sun');
  });
});

describe('a prompt’s model', () => {
  const faultOf = (...head: string[]): string => {
    try {
      checkModel(
        parsePromptFile(['---', 'title: x', ...head, '---', 'x'].join('\n'), 'x.prompt'),
        'x.prompt',
        models,
      );
      return 'none';
    } catch (error) {
      return error instanceof InvalidPromptFile ? error.message : String(error);
    }
  };

  it('must be there and take the prompt’s run options', () => {
    expect(faultOf()).toBe('none');
    expect(faultOf('config: {outcome: partial, delaySeconds: 5}', 'model: sandbox')).toBe('none');
    expect(faultOf('model: gpt-9')).toBe('x.prompt:3: there is no model `gpt-9`');
    expect(faultOf('model: sandbox', 'config:', '  outcome: failed', '  delaySeconds: 7')).toMatch(
      /^x\.prompt:6: `delaySeconds` of the model `sandbox` is one of 0, 1, 5, 30, 130, not `7`$/,
    );
    expect(faultOf('config:', '  quality: high')).toBe(
      'x.prompt:4: the model `echo` has no run option `quality`',
    );
  });

  it('may ignore the settings text models know', () => {
    expect(faultOf('config: {temperature: 0.7, maxOutputTokens: 100}')).toBe('none');
  });
});
