import { beforeAll, describe, expect, it } from 'vitest';
import { loadJavaScript } from '../../../src/cli/checks/load-javascript.ts';

const INPUT = {
  output: '{"ok": true}',
  context: { vars: { city: 'Oslo', want: { n: 1 } }, prompt: 'Where?', test: { description: 'a' } },
};

describe('code that looks at an answer', () => {
  let runCode: Awaited<ReturnType<typeof loadJavaScript>>;
  beforeAll(async () => {
    runCode = await loadJavaScript();
  });
  const runInline = (code: string) => runCode({ code, isFile: false }, INPUT);
  const runFile = (code: string, exportName?: string) =>
    runCode({ code, isFile: true, ...(exportName !== undefined && { exportName }) }, INPUT);

  it.each([
    ['output.length', 12],
    ['JSON.parse(output).ok', true],
    ['context.vars.city + context.vars.want.n', 'Oslo1'],
    ['context.prompt + context.test.description', 'Where?a'],
    ['const n = output.length; n > 3', true],
    ['let a = 1; a += 1; a;', 2],
    ['if (output) {\n  return "yes";\n}', 'yes'],
    ['const x = 1\n', undefined],
    ['Promise.resolve(4)', 4],
    ['(async () => { await null; return 5; })()', 5],
    ['({ pass: true, score: 0.5, reason: "r" })', { pass: true, score: 0.5, reason: 'r' }],
    ['undefined', undefined],
    ['new Date(0).getTime()', 0],
  ])('returns its result: %s', (code, value) => {
    expect(runInline(code)).toEqual({ value });
  });

  it.each([
    ['nope', /ReferenceError/],
    ['return 1', /SyntaxError/],
    ['throw new Error("x")', /SyntaxError/],
    ['Promise.reject(new Error("no"))', /^Error: no$/],
    ['new Promise(() => {})', /never settles/],
    ['(function f() { return f(); })()', /stack overflow/],
    ['"x".repeat(1e9)', /out of memory/],
    ['JSON.parse("[".repeat(100000))', /SyntaxError/],
    [
      'let a = 1\nfor (let i = 0; i < 501; i++) a = [a]\nreturn a',
      /^its result has more than 500 levels$/,
    ],
  ])('reports why it has no result: %s', (code, fault) => {
    expect(runInline(code)).toEqual({ fault: expect.stringMatching(fault) });
  });

  it('reports a limit if an engine aborts, and continues with another engine', async () => {
    const deep = 'let a = []\nfor (let i = 0; i < 100_000; i++) a = [a]\nreturn a';
    const runInFirst = await loadJavaScript();
    expect(() => runInFirst({ code: deep, isFile: false }, INPUT)).toThrow(
      'the JavaScript takes more than its engine can hold',
    );

    const runInSecond = await loadJavaScript();
    expect(runInSecond({ code: '1 + 1', isFile: false }, INPUT)).toEqual({ value: 2 });
  });

  it.each(['require', 'process', 'fetch', 'setTimeout', 'WebAssembly', 'Buffer', 'std', 'os'])(
    'has no %s',
    name => expect(runInline(`typeof ${name}`)).toEqual({ value: 'undefined' }),
  );

  it('keeps no state for the next check', () => {
    runInline('(globalThis.leftover = 1, Object.prototype.leftover = 1)');
    expect(runInline('typeof leftover')).toEqual({ value: 'undefined' });
  });

  it.each([
    ['module.exports = (output, { vars }) => vars.city === "Oslo"', undefined, true],
    ['module.exports = { check: () => 2 }', 'check', 2],
    ['exports.check = () => 3', 'check', 3],
    ['export default output => output.length', undefined, 12],
    ['export default async () => 7', undefined, 7],
    ['export function check() { return 4; }', 'check', 4],
    ['export default { check: () => 5 }', 'check', 5],
  ])('may be a file: %s', (code, exportName, value) => {
    expect(runFile(code, exportName)).toEqual({ value });
  });

  it.each([
    ['module.exports = 4', /exports no function/],
    ['import fs from "fs";\nexport default () => 1', /could not load module/],
    ['module.exports = require("fs")', /ReferenceError/],
  ])('is refused as a file: %s', (code, fault) => {
    expect(runFile(code)).toEqual({ fault: expect.stringMatching(fault) });
  });
});
