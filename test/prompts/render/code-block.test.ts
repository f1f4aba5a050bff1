import { describe, expect, it } from 'vitest';
import { checkOutput } from '../../../src/prompts/render/check-output.ts';

const ANSWER =
  'Here:\n```py\nprint(1)\n\nprint(2)\n```\nor\n````\n```\n````\nand\n```js\nnever ended';

describe('an output that is a code block of the answer', () => {
  it.each([
    ['first', ANSWER, 'print(1)\n\nprint(2)'],
    ['last', ANSWER, '```'],
    ['first', 'no block', 'no block'],
    ['last', '```\r\nx\r\n```\r\n', 'x'],
    ['first', '```\n```', ''],
  ] as const)('is the %s one of %j', async (extract, text, block) => {
    expect(await checkOutput({ output: { extract } }, text)).toEqual({ text: block });
  });

  it('is checked like any output', async () => {
    const output = { extract: 'last', format: 'json', schema: { type: 'object' } } as const;
    const text = 'First:\n```\n1\n```\nthen\n```json\n{"a": 1}\n```\ndone';
    expect(await checkOutput({ output }, text)).toEqual({ text: '{"a": 1}' });
    expect((await checkOutput({ output }, '```\n1\n```')).fault).toMatch(
      /does not match output.schema/,
    );
  });
});
