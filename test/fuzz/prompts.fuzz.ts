import fc from 'fast-check';
import Handlebars from 'handlebars';
import { FileFault } from '../../src/files/formats/file-fault.ts';
import type { JsonObject } from '../../src/files/formats/json.ts';
import { parseYaml } from '../../src/files/formats/yaml.ts';
import { InvalidInputsError, type PromptDefinition } from '../../src/prompts/definition.ts';
import { parsePrompt } from '../../src/prompts/parse/parse-prompt.ts';
import { checkOutput } from '../../src/prompts/render/check-output.ts';
import { previewPrompt } from '../../src/prompts/render/preview-prompt.ts';
import { renderPrompt } from '../../src/prompts/render/render-prompt.ts';
import { LimitExceededError } from '../../src/utils/limit-exceeded.ts';
import { anyText } from '../support/any-text.ts';
import { type Fuzzed, fuzzed, withDeadline } from './fuzzed.ts';

// Handlebars sets a prototype where a partial is given a `__proto__`.
const NAMES = ['a', 'b', 'list', 'o', 'constructor', 'length', 'none'];
const name = fc.constantFrom(...NAMES);

const path = fc.oneof(
  name,
  fc.tuple(name, name).map(parts => parts.join('.')),
  fc.constantFrom(
    'this',
    '.',
    '../a',
    '../this',
    '@root.a',
    '@index',
    '@key',
    '@first',
    '@last',
    './b',
    'x',
    'list.[0]',
    'o.a.b',
  ),
);

const blank = fc.constantFrom('', ' ', '\n', '\n  ', ' text ', 'é\n', '\\', '{', '}');
const strip = fc.constantFrom('', '~');

/** Templates that are well formed, in which every helper is known. */
const { template } = fc.letrec<{ template: string; part: string }>(tie => {
  const body = tie('template');
  const block = fc
    .tuple(
      fc.constantFrom('if', 'unless', 'each', 'with', 'ifEquals', 'unlessEquals', ''),
      path,
      path,
      fc.tuple(strip, strip, strip, strip),
      body,
      fc.option(body),
      fc.boolean(),
    )
    .map(([helper, one, two, [s, t, u, v], inside, otherwise, isChained]) => {
      const isPair = helper.endsWith('Equals');
      const isLoop = helper === 'each' || helper === 'with';

      // A bare block takes no `@` variable and no way up: Handlebars reads those otherwise.
      const subject = helper === '' ? one.replace(/^(?:@|\.\.?\/|\.$|this).*/, 'o') : one;
      const open =
        helper === ''
          ? subject
          : `${helper} ${one}${isPair ? ` ${two}` : ''}${isLoop ? ' as |x|' : ''}`;
      const middle = isChained && !isPair ? `{{${u}else if ${two}${u}}}` : `{{${u}else${u}}}`;
      const rest = otherwise === null ? '' : middle + otherwise;

      return `{{${s}#${open}${t}}}${inside}${rest}{{${u}/${helper || subject}${v}}}`;
    });

  const value = fc.tuple(strip, path, strip).map(([s, name, t]) => `{{${s}${name}${t}}}`);
  const more = fc.constantFrom(
    '{{! note }}',
    '{{!-- {{a}} --}}',
    '\\{{a}}',
    '{{json o}}',
    '{{lookup o "a"}}',
    '{{{a}}}',
    '{{> part}}',
    '{{> part o}}',
    '{{> part b="B"}}',
    '\n  {{> part}}\n',
  );

  return {
    part: fc.oneof({ depthSize: 'small' }, blank, value, more, block),
    template: fc.array(tie('part'), { maxLength: 5 }).map(parts => parts.join('')),
  };
});

const scalar = fc.oneof(
  fc.constantFrom('', 'text', '0', '{{a}}', ' '),
  fc.integer({ min: -1, max: 2 }),
  fc.boolean(),
  fc.constant(null),
);

const json = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const inputs = fc.dictionary(name, json, {
  maxKeys: 6,
  noNullPrototype: true,
}) as fc.Arbitrary<JsonObject>;

const PARTIAL = '<{{b}}{{#each list}}{{this}}\n{{/each}}>\n';

/** Renders the same template with Handlebars itself. */
function renderByHandlebars(template: string, data: JsonObject): string {
  const handlebars = Handlebars.create();
  handlebars.registerPartial('part', PARTIAL);
  handlebars.registerHelper('json', (value: unknown) => JSON.stringify(value ?? null));

  const equals = (isSame: boolean) =>
    function (
      this: unknown,
      one: unknown,
      two: unknown,
      { fn, inverse }: Handlebars.HelperOptions,
    ) {
      return (one === two) === isSame ? fn(this) : inverse(this);
    };

  handlebars.registerHelper('ifEquals', equals(true));
  handlebars.registerHelper('unlessEquals', equals(false));
  const run = handlebars.compile(template, {
    noEscape: true,
    knownHelpers: { json: true, ifEquals: true, unlessEquals: true },
    knownHelpersOnly: true,
  });
  return run(data);
}

function renderByPromptrun(definition: PromptDefinition, data: JsonObject): string {
  return previewPrompt({ ...definition, textInputs: [], imageInputs: [] }, { inputs: data })
    .messages.flatMap(({ content }) => content)
    .map(part => ('text' in part ? part.text : ''))
    .join('');
}

const partials = (name: string) =>
  name === 'part' ? { file: '_part.prompt', text: PARTIAL } : undefined;

/** Front matter that is nearly right. */
const head = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'model: echo',
        'config: {temperature: 1}',
        'input:',
        'output:',
        '  schema:',
        '  default:',
        '  format: json',
        '    a: string',
        '    a?: integer, n',
        '    list(array): string',
        '    o(object):',
        '      a: any',
        '    b(enum): [x, 2]',
        '    (*): any',
        'type: object',
        '    properties: {a: {type: string}}',
        'x.y: &z [1]',
        'z: *z',
        '? a',
        '- ',
        '"',
        '{',
        '[',
        '|',
        '!!int x',
        '# c',
        '\t',
      ),
      fc.string({ maxLength: 20 }),
    ),
    { maxLength: 12 },
  )
  .map(lines => lines.join('\n'));

const source = fc.oneof(
  fc.tuple(head, template).map(([front, body]) => `---\n${front}\n---\n${body}`),
  fc.tuple(head, anyText()).map(([front, body]) => `---\n${front}\n---\n${body}`),
  fc
    .array(
      fc.constantFrom(
        '{{',
        '}}',
        '{{#',
        '{{/',
        'if',
        'each',
        ' a',
        '"',
        '[',
        '(',
        ')',
        '|',
        '~',
        '{{{{',
        '!--',
        '--}}',
        '\\',
        '@',
        '../',
        '=',
        '{{else',
        '{{>',
        '{{#*inline "x"}}',
        '\n',
        '\0',
      ),
      { maxLength: 30 },
    )
    .map(parts => parts.join('')),
);

/** Handlebars joins what stands side by side with `+`, which adds up numbers and truth values. */
function mayAddUp(text: string, data: unknown): boolean {
  return text.includes('}}{{') && /[[:,](?:true|false|-?\d)/.test(JSON.stringify(data));
}

export default [
  fuzzed(
    'a template says what Handlebars makes of it',
    fc.tuple(template, inputs),
    async ([text, data]) => {
      const { definition, findings } = parsePrompt(text, 'x.prompt', { partials });
      if (!definition || findings.hasFaults) return;

      // Equal values inside each other don't count as levels there, which `../` shows.
      const written = await withDeadline(() => renderByPromptrun(definition, data));
      if (text.includes('../')) return;

      const expected = renderByHandlebars(text, data);
      if (expected.trim() === '' && written.trim() === '') return;

      if (written !== expected && !mayAddUp(text, data)) {
        throw new Error(`${JSON.stringify(written)} instead of ${JSON.stringify(expected)}`);
      }
    },
  ),

  fuzzed('a prompt file is read, or refused with a place in it', source, async text => {
    const { definition, findings } = await withDeadline(() =>
      parsePrompt(text, 'x.prompt', { partials }),
    );
    const lines = text.split(/\r\n?|\n/).length + 1;
    for (const { line, column, message } of findings.list()) {
      if (line < 1 || line > lines || column < 1 || message === '') {
        throw new Error(`${line}:${column} ${message}`);
      }
    }

    if (!definition || findings.hasFaults) return;

    const kept = JSON.parse(JSON.stringify(definition)) as PromptDefinition;
    const texts = Object.fromEntries(
      definition.textInputs.map(input => [input.key, input.enum?.[0] ?? '1']),
    );
    const [one, two] = await Promise.all([renderText(definition, texts), renderText(kept, texts)]);

    // A machine that is busy with other things stops the one and not the other.
    if ([one, two].some(text => text.includes('takes longer than'))) return;
    if (one !== two) throw new Error(`what is kept renders otherwise: ${one} and ${two}`);
  }),

  fuzzed('what is nearly YAML is read, or refused with its line', head, async text => {
    await withDeadline(() => {
      try {
        JSON.stringify(parseYaml(text).toJson());
      } catch (error) {
        if (!(error instanceof FileFault)) throw error;
      }
    });
  }),

  fuzzed(
    'an answer is checked, whatever it is',
    fc.tuple(
      json,
      fc.oneof(
        json.map(value => JSON.stringify(value)),
        fc.string(),
      ),
    ),
    async ([schema, text]) => {
      const isSchema = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
      const output = isSchema ? { schema: schema as JsonObject } : { format: 'json' };
      const checked = await withDeadline(() =>
        checkOutput({ output }, text).catch(unlessLimitExceeded),
      );
      if (!checked) return;

      if (checked.fault === undefined) JSON.parse(checked.text);
      else if (checked.text !== text) throw new Error('an answer that does not match was changed');
    },
  ),
] satisfies readonly Fuzzed[];

function unlessLimitExceeded(error: unknown): undefined {
  if (!(error instanceof LimitExceededError)) throw error;
}

async function renderText(
  definition: PromptDefinition,
  textInputs: Record<string, string>,
): Promise<string> {
  try {
    return JSON.stringify(
      await withDeadline(() => renderPrompt(definition, { textInputs, images: [] })),
    );
  } catch (error) {
    if (error instanceof LimitExceededError || error instanceof InvalidInputsError) {
      return error.message;
    }
    if (error instanceof Error && error.message.startsWith('the template places')) {
      return error.message;
    }
    throw error;
  }
}
