import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  END_MARK,
  fillInputs,
  formatPieces,
  listInputs,
  splitAtInputs,
} from '../../../src/prompts/foreign/template-pieces.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../../src/prompts/render/preview-prompt.ts';

function renderForeignText(text: string, value: string): string {
  const pieces = [...splitAtInputs(text), END_MARK];
  const inputs = Object.fromEntries(listInputs(pieces).map(name => [name, value]));
  const definition = parsePromptFile(`{{role "user"}}${formatPieces(pieces)}`, 'x.prompt');
  const { messages } = previewPrompt(definition, { inputs });
  return messages
    .flatMap(({ content }) => content.map(part => ('text' in part ? part.text : '?')))
    .join('');
}

describe('a foreign text as a template', () => {
  it.each([
    ['Hello {{name}}!', 'Hello V!'],
    ['{"n": {{n}}}', '{"n": V}'],
    ['{{{n}}} {{{{n}}}}', '{V} {{V}}'],
    ['{{#if x}} {{ a }} {{}} {{/if}}', '{{#if x}} {{ a }} {{}} {{/if}}'],
    ['{{else}} {{a.b-c_d}} {{this}} {{log}}{{history}}', 'V V V VV'],
    ['\\{{a}} \\\\{{a}} \\{\\{ \\{{{ {\\', '\\V \\\\V \\{\\{ \\{{{ {\\'],
    ['  \n{{a}}\n\n', '  \nV\n\n'],
    ['{{!-- no comment --}}{{> none}}{{"a"}}', '{{!-- no comment --}}{{> none}}{{"a"}}'],
  ])('renders %j as %j', (text, expected) => expect(renderForeignText(text, 'V')).toBe(expected));

  it('renders any text unchanged, with its placeholders filled in', () => {
    const fragment = fc.constantFrom(
      '{',
      '{{',
      '}',
      '}}',
      '\\',
      '{{a}}',
      '{{b}}',
      '~',
      '!',
      '#',
      '"',
      ' ',
      '\n',
      ',',
    );
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 1, maxLength: 12 }), fragments => {
        const text = `.${fragments.join('')}`;
        expect(renderForeignText(text, 'V')).toBe(fillInputs(text, { a: 'V', b: 'V' }));
      }),
      { numRuns: 300 },
    );
  });

  it('never takes a value for a placeholder', () => {
    expect(fillInputs('{{a}}{{b}}{{c}}', { a: '{{b}}', b: '{{a}}' })).toBe('{{b}}{{a}}{{c}}');
    expect(renderForeignText('{{a}}', '{{b}}')).toBe('{{b}}');
  });
});
