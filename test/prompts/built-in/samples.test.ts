import { describe, expect, it } from 'vitest';
import { createKnownModels } from '../../../src/models/catalogue/known-models.ts';
import { BUILT_IN_MODELS } from '../../../src/models/model-entry.ts';
import { readBuiltInText } from '../../../src/prompts/built-in/built-in-texts.ts';
import { checkModel } from '../../../src/prompts/check/check-prompt.ts';
import { toPromptConfig } from '../../../src/prompts/definition.ts';
import { Findings } from '../../../src/prompts/findings.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { renderPrompt } from '../../../src/prompts/render/render-prompt.ts';
import { SAMPLES } from '../../../src/service/prompts/seed-samples.ts';
import { png } from '../../support/png.ts';

const models = {
  list: () => BUILT_IN_MODELS,
  get: (name: string) => BUILT_IN_MODELS.find(({ model }) => model === name),
  settings: ['temperature', 'topP'],
  explainMissing: (name: string) => `the model \`${name}\` does not exist`,
};

const parseSample = (slug: string): ReturnType<typeof parsePromptFile> =>
  parsePromptFile(readBuiltInText(`${slug}.prompt`), `${slug}.prompt`);

const renderSample = async (
  slug: string,
  textInputs: Record<string, string> = {},
  images: Buffer[] = [],
) => {
  const loaded = images.map(bytes => ({ bytes, mediaType: 'image/png' }));
  return (await renderPrompt(parseSample(slug), { textInputs, images: loaded })).text;
};

const checkDefinition = (definition: ReturnType<typeof parsePromptFile>): string[] => {
  const findings = new Findings('x.prompt');
  checkModel(definition, createKnownModels(models), { findings });
  return findings.list().map(({ severity, line, message }) => `${severity} ${line}: ${message}`);
};

describe('the samples', () => {
  it('run on built-in models and say what they are', () => {
    expect(SAMPLES).toEqual(['sandbox', 'describe', 'postcard', 'hello']);
    for (const slug of SAMPLES) {
      const definition = parseSample(slug);
      expect(checkDefinition(definition)).toEqual([]);
      expect(definition.title).not.toBe(slug);
      expect(definition.description).not.toBe('');
    }
  });

  it('ask for what they need', () => {
    const config = (slug: string): unknown => {
      const { textInputs, imageInputs } = toPromptConfig(parseSample(slug));
      return [
        Object.entries(textInputs).map(([key, { required }]) => `${key}${required ? '' : '?'}`),
        imageInputs.length,
      ];
    };

    expect(config('hello')).toEqual([['name'], 0]);
    expect(config('postcard')).toEqual([['place', 'mood?'], 0]);
    expect(config('describe')).toEqual([[], 1]);
    expect(config('sandbox')).toEqual([['note?'], 0]);
    expect(toPromptConfig(parseSample('postcard')).textInputs['mood']).toMatchObject({
      enum: ['sunny', 'rainy', 'snowy'],
      default: 'sunny',
    });
  });

  it('read well', async () => {
    expect(await renderSample('hello', { name: 'Ada' })).toBe('Hello, Ada! A pleasant day to you.');
    expect(await renderSample('sandbox')).toBe('The rehearsal is over.');
    expect(await renderSample('sandbox', { note: 'one' })).toBe(
      'The rehearsal is over. You noted: one',
    );
    expect(await renderSample('describe', {}, [png(8, 9)])).toMatch(
      /^This is what you sent: PNG image, 8 × 9 pixels, \d+ bytes\.$/,
    );
    expect(await renderSample('postcard', { place: 'Oslo', mood: 'rainy' })).toBe(
      'Greetings from Oslo!\n\nIt rains and rains, and the cafés are the nicer for it.\n\nWish you were here.',
    );
    expect(await renderSample('postcard', { place: 'Oslo' })).toContain('sun');
  });
});

describe("a prompt's model", () => {
  const listFindings = (...head: string[]): string[] =>
    checkDefinition(
      parsePromptFile(['---', 'title: x', ...head, '---', 'x'].join('\n'), 'x.prompt'),
    );

  it("must be there and take the prompt's run options", () => {
    expect(listFindings()).toEqual([]);
    expect(listFindings('config: {outcome: partial, delaySeconds: 5}', 'model: sandbox')).toEqual(
      [],
    );
    expect(listFindings('model: gpt-9')).toEqual(['fault 3: the model `gpt-9` does not exist']);
    expect(
      listFindings('model: sandbox', 'config:', '  outcome: failed', '  delaySeconds: 7'),
    ).toEqual([
      'fault 6: `delaySeconds` of the model `sandbox` is one of 0, 1, 5, 30, 130, not `7`',
    ]);
  });

  it('may ignore options that are not its own, with a note unless every text model knows them', () => {
    expect(listFindings('config:', '  quality: high')).toEqual([
      'note 4: the model `echo` ignores `quality`',
    ]);
    expect(
      listFindings('config: {temperature: 0.7, maxOutputTokens: 100, stopSequences: [END]}'),
    ).toEqual([]);
  });
});
