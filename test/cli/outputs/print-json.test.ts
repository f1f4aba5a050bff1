import { describe, expect, it } from 'vitest';
import type { GlobalOptions } from '../../../src/cli/core/global-options.ts';
import { formatJsonLine, printValue } from '../../../src/cli/outputs/print-json.ts';
import { type TestOptions, testContext } from '../../support/context.ts';

async function printToText(
  value: unknown,
  options: TestOptions & { globals?: Partial<GlobalOptions> } = {},
): Promise<string> {
  const { ctx, stdout } = await testContext(options);
  await printValue(ctx, value);
  return stdout();
}

const ON_TERMINAL = { terminal: { stdout: true } };

describe('printValue', () => {
  it('prints JSON indented by two spaces, with a newline', async () => {
    expect(await printToText({ a: [1, null] })).toBe('{\n  "a": [\n    1,\n    null\n  ]\n}\n');
  });

  it('prints unknown fields, also __proto__', async () => {
    const text = '{"__proto__":{"x":1},"new":[]}';
    expect(JSON.stringify(JSON.parse(await printToText(JSON.parse(text))))).toBe(text);
  });

  it('prints what --query selects, a string bare', async () => {
    const value = { id: 'a"b', n: 3 };
    expect(await printToText(value, { globals: { query: 'id' } })).toBe('a"b\n');
    expect(await printToText(value, { globals: { query: 'n' } })).toBe('3\n');
    expect(await printToText(value, { globals: { query: 'nothing' } })).toBe('null\n');
  });

  const CONTROLS = { text: '\u009b2J\u202e\u007f' };

  it('prints control characters unchanged to a pipe', async () => {
    expect(await printToText(CONTROLS)).toContain('\u009b2J\u202e\u007f');
  });

  it('prints control characters as JSON escapes on a terminal', async () => {
    const text = await printToText(CONTROLS, ON_TERMINAL);
    expect(text).toContain('\\u009b2J\\u202e\\u007f');
    expect(JSON.parse(text)).toEqual(CONTROLS);
  });

  it('prints the control characters of a bare string in caret notation on a terminal', async () => {
    expect(await printToText({ t: '\u001b[2J' }, { ...ON_TERMINAL, globals: { query: 't' } })).toBe(
      '^[[2J\n',
    );
  });
});

it('writes a row on one line', async () => {
  const { ctx } = await testContext();
  expect(await formatJsonLine(ctx, { a: [1, { b: 2 }] })).toBe('{"a":[1,{"b":2}]}\n');
});
