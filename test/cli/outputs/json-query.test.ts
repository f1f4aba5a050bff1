import { afterAll, describe, expect, it } from 'vitest';
import { CheckRunner } from '../../../src/cli/checks/check-runner.ts';
import type { CliError } from '../../../src/cli/core/errors.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { applyQuery, checkQuery } from '../../../src/cli/outputs/json-query.ts';

const stop = new AbortController();
const checks = new CheckRunner(stop.signal);
const CHECKS_CONTEXT = { checks: () => Promise.resolve(checks) };
afterAll(() => checks.close());

async function catchRefusal(expression: string): Promise<CliError> {
  const outcome = await checkQuery(CHECKS_CONTEXT, expression).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ exitCode: EXIT.usage, status: 'USAGE_ERROR' });
  return outcome as CliError;
}

describe('checkQuery', () => {
  it.each([
    'runId',
    'outputs[?type==`text`].data | [0]',
    'length(@)',
    '[*].{id: runId, n: length(outputs)}',
    "'x'",
  ])('accepts %s', async expression => {
    await expect(checkQuery(CHECKS_CONTEXT, expression)).resolves.toBeUndefined();
  });

  it.each([
    ['outputs[', 8],
    ['a.b.', 4],
    ['a[?b==]', 6],
    ['a || )', 5],
    ['a.b.c}', 5],
    ['a # b', 2],
    ['a."b', 2],
    ['[*].lenth(@)', 4],
    ['foo(', 4],
  ])('shows the fault of %s at its character %d', async (expression, index) => {
    const { hints } = await catchRefusal(expression);
    expect(hints.slice(0, 2)).toEqual([expression, `${' '.repeat(index)}^`]);
  });

  it('explains the fault of an expression', async () => {
    expect((await catchRefusal('a.b.')).message).toBe('--query: the expression is not finished');
    expect((await catchRefusal('')).message).toBe('--query: the expression is empty');
    expect((await catchRefusal('lenth(@)')).message).toBe('--query: unknown function `lenth`');
    expect((await catchRefusal('a.b c')).message).toBe('--query: unexpected `c`');
  });
});

describe('applyQuery', () => {
  const run = { runId: 'x', outputs: [{ type: 'text', data: 'hi' }], extra: { new: true } };

  it('selects, and prints null for a missing value', async () => {
    expect(await applyQuery(CHECKS_CONTEXT, 'outputs[0].data', run)).toMatchObject({ text: 'hi' });
    expect(await applyQuery(CHECKS_CONTEXT, 'extra.new', run)).toEqual({
      json: 'true',
      isTruthy: true,
    });
    expect(await applyQuery(CHECKS_CONTEXT, 'nothing.at.all', run)).toEqual({
      json: 'null',
      isTruthy: false,
    });
    expect(await applyQuery(CHECKS_CONTEXT, 'constructor', {})).toMatchObject({ json: 'null' });
  });

  it('refuses to apply a function to an invalid argument', async () => {
    await expect(applyQuery(CHECKS_CONTEXT, 'length(extra.new)', run)).rejects.toMatchObject({
      exitCode: EXIT.usage,
    });
  });
});
