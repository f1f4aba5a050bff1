import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/files/formats/json.ts';
import { parsePrompt, parsePromptFile } from '../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../src/prompts/render/preview-prompt.ts';
import { RENDER_LIMITS } from '../../src/prompts/template/render-budget.ts';
import type { Run } from '../../src/wire/index.ts';
import { publishPromptFile, TestService } from '../support/local-service.ts';

/** Repeats a text until it fills a prompt file. */
const fillFile = (unit: string, bytes = 128 * 1024 - 500): string =>
  unit.repeat(Math.floor(bytes / unit.length));

const fillWithNumberedLines = (line: (n: number) => string, bytes = 128 * 1024 - 500): string => {
  const lines: string[] = [];
  for (let size = 0; size < bytes; size += lines.at(-1)?.length ?? 1) {
    lines.push(line(lines.length));
  }
  return lines.join('');
};

const withFrontMatter = (head: string, template = 'x'): string => `---\n${head}\n---\n${template}`;

function findFault(source: string): string {
  const fault = parsePrompt(source, 'x.prompt')
    .findings.list()
    .find(({ severity }) => severity === 'fault');
  return fault ? `${fault.line}: ${fault.message}` : 'none';
}

// Each would take minutes, or end the process, if reading a prompt were not linear and bounded.
describe('a prompt file past a bound is refused soon, with the bound', () => {
  it.each([
    ['a file that is too large', 'x'.repeat(128 * 1024 + 1), '1: the file is larger than 128 KiB'],
    [
      'else branches without end',
      `{{#if a}}${fillFile('{{else if a}}')}{{/if}}`,
      '1: more than 100 blocks and {{else}} branches are open inside each other',
    ],
    [
      'blocks without end',
      fillFile('{{#a}}'),
      '1: more than 100 blocks and {{else}} branches are open inside each other',
    ],
    [
      'parentheses without end',
      `{{json ${fillFile('(json ')}`,
      '1: more than 50 parentheses are open inside each other',
    ],
    [
      'blanks without end',
      `${' '.repeat(100_000)}x{{~a}}`,
      '1: there are more than 4096 blanks in a row',
    ],
    [
      'empty lines without end',
      `x\n${'\n'.repeat(100_000)}x{{#if a}}\n{{/if}}`,
      /^1: there are more than 4096 blanks/,
    ],
    [
      'fields without end',
      withFrontMatter(`input:\n schema:\n${fillWithNumberedLines(n => `  f${n}: string\n`)}`),
      '1004: a schema has at most 1,000 fields',
    ],
    [
      'fields of JSON Schema without end',
      withFrontMatter(
        `output:\n schema:\n  type: object\n  properties:\n${fillWithNumberedLines(n => `   f${n}:\n    type: string\n`)}`,
      ),
      /^\d+: a schema has at most 1,000 fields$/,
    ],
    ['lists in lists', withFrontMatter(`a: ${fillFile('[')}`), '2: this is nested too deeply'],
    [
      'maps in maps',
      withFrontMatter(fillWithNumberedLines(n => `${' '.repeat(n)}a:\n`)),
      /nested too deeply/,
    ],
    [
      'aliases that multiply',
      withFrontMatter(
        `a0: &a0 [x]\n${fillWithNumberedLines(n => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]\n`, 1000)}`,
      ),
      /with its aliases written out, this is too large$/,
    ],
    ['an alias of itself', withFrontMatter('a: &a [*a]'), /nested too deeply/],
  ])('%s', (_, source, fault) => {
    expect(findFault(source)).toEqual(
      typeof fault === 'string' ? fault : expect.stringMatching(fault),
    );
  });
});

describe('a prompt file as large as it may be is read', () => {
  it.each([
    ['tags', fillFile('{{a}}')],
    ['tags that are escaped', fillFile('\\{{')],
    ['names', fillWithNumberedLines(n => `{{a${n}}}`)],
    ['else branches beside each other', fillFile(`{{#if a}}${'{{else if a}}'.repeat(90)}{{/if}}`)],
    ['aliases', withFrontMatter(`a: &a x\nb: [${fillFile('*a,', 100_000)}]`)],
    ['keys', withFrontMatter(fillWithNumberedLines(n => `k${n}: 1\n`))],
    ['lines of a text', withFrontMatter(`a: "${fillFile('a \n  ', 100_000)}"`)],
  ])('%s', (_, source) => expect(findFault(source)).toBe('none'));

  it.each([
    ['comments', '{{!--'],
    ['names', '{{['],
    ['texts', '{{"'],
    ['tags', '{{'],
  ])('%s that never end are a fault', (_, unit) =>
    expect(findFault(fillFile(unit))).toMatch(
      /^1: (the template can't be read here|this tag is never closed)$/,
    ),
  );
});

describe('a render past a bound ends', () => {
  const render = (
    template: string,
    inputs: Record<string, JsonValue> = {},
    limits = { ...RENDER_LIMITS, now: () => 0 },
  ) => {
    const definition = parsePromptFile(template, 'x.prompt', {
      partials: name => ({ file: `_${name}.prompt`, text: `{{#if v}}{{> ${name}}}{{/if}}` }),
    });
    return previewPrompt(definition, { inputs }, limits);
  };

  const nestLoops = (depth: number): string =>
    `${'{{#each @root}}'.repeat(depth)}x${'{{/each}}'.repeat(depth)}`;
  const tenInputs = Object.fromEntries('abcdefghij'.split('').map(name => [name, 'v']));

  it('of steps: loops in loops', () => {
    expect(() => render(nestLoops(7), tenInputs)).toThrow(
      'rendering the prompt takes more than 1,000,000 steps',
    );
    expect(() => render(nestLoops(3), tenInputs)).not.toThrow();
  });

  it('of steps: large values written again and again without being shown', () => {
    const template = '{{#each l}}{{#if (json @root.big)}}{{/if}}{{/each}}';
    const inputs = { l: Array.from({ length: 1000 }, () => 1), big: 'x'.repeat(100_000) };
    expect(() => render(template, inputs)).toThrow('more than 1,000,000 steps');
  });

  it("of bytes, also of the blanks before a partial's lines", () => {
    const inputs = { l: Array.from({ length: 100 }, () => 1), big: 'é'.repeat(50_000) };
    expect(() => render('{{#each l}}{{@root.big}}{{/each}}', inputs)).toThrow(
      'the rendered prompt is larger than 8 MiB',
    );

    const limits = { ...RENDER_LIMITS, maxBytes: 1000 };
    const indented = parsePromptFile(`${' '.repeat(100)}{{> p}}\n`, 'x.prompt', {
      partials: () => ({ file: '_p.prompt', text: '{{v}}' }),
    });

    expect(() => previewPrompt(indented, { inputs: { v: '\n'.repeat(50) } }, limits)).toThrow(
      'is larger than',
    );
  });

  it('of time, by the injected clock', () => {
    let time = 0;
    const limits = { ...RENDER_LIMITS, now: () => (time += 700) };
    expect(() => render(nestLoops(4), tenInputs, limits)).toThrow(
      'rendering the prompt takes longer than 2 s',
    );
  });

  it('of its own time, without waits for others', () => {
    let clockMs = 0;
    let ownTimeMs = 0;
    const createLimits = (ownMsPerCheck: number) => ({
      ...RENDER_LIMITS,
      now: () => (clockMs += 700),
      getOwnTimeMs: () => (ownTimeMs += ownMsPerCheck),
    });

    expect(() => render(nestLoops(4), tenInputs, createLimits(700))).toThrow(
      'rendering the prompt takes longer than 2 s',
    );
    expect(() => render(nestLoops(4), tenInputs, createLimits(0))).not.toThrow();
  });

  it('of depth: a partial that uses itself', () => {
    expect(() => render('{{> me}}{{v}}', { v: 'x' })).toThrow(
      'more than 200 blocks and partials are inside each other',
    );
  });
});

describe('a run past a bound', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it('fails alone, with the bound in its error', async () => {
    const names = 'abcdefghij'.split('');
    const loops = `${'{{#each @root}}'.repeat(7)}x${'{{/each}}'.repeat(7)}`;
    const bomb = await publishPromptFile(
      service.dataDir,
      'bomb',
      `${names.map(name => `{{${name}}}`).join('')}${loops}`,
    );

    const run = (promptVersionId: string, textInputs: Record<string, string>) =>
      service.post<Run>('/runs', { promptVersionId, inputs: { textInputs } });
    const [bad, good] = await Promise.all([
      run(bomb.promptVersionId, Object.fromEntries(names.map(name => [name, 'v']))),
      run(await service.versionOf('hello'), { name: 'Ada' }),
    ]);

    expect(bad.data.runStatus).toBe('failed');
    expect(bad.data.outputs).toEqual([
      { type: 'error', data: expect.stringMatching(/1,000,000 steps|longer than 2 s/) },
    ]);
    expect(good.data.runStatus).toBe('succeeded');
  });
});
