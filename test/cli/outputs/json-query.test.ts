import { afterAll, describe, expect, it } from 'vitest';
import { CheckRunner } from '../../../src/cli/checks/check-runner.ts';
import type { CliError } from '../../../src/cli/core/errors.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { applyQuery, checkQuery } from '../../../src/cli/outputs/json-query.ts';

const stop = new AbortController();
const checks = new CheckRunner(stop.signal);
const HERE = { checks: () => Promise.resolve(checks) };
afterAll(() => checks.close());

async function refusal(expression: string): Promise<CliError> {
  const outcome = await checkQuery(HERE, expression).catch((error: unknown) => error);
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
    await expect(checkQuery(HERE, expression)).resolves.toBeUndefined();
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
  ])('points into %s at %d', async (expression, index) => {
    const { hints } = await refusal(expression);
    expect(hints.slice(0, 2)).toEqual([expression, `${' '.repeat(index)}^`]);
  });

  it('says what is wrong', async () => {
    expect((await refusal('a.b.')).message).toBe('--query: the expression is not finished');
    expect((await refusal('')).message).toBe('--query: the expression is empty');
    expect((await refusal('lenth(@)')).message).toBe('--query: unknown function `lenth`');
    expect((await refusal('a.b c')).message).toBe('--query: unexpected `c`');
  });
});

describe('applyQuery', () => {
  const run = { runId: 'x', outputs: [{ type: 'text', data: 'hi' }], extra: { new: true } };

  it('selects, and prints null for a missing value', async () => {
    expect(await applyQuery(HERE, 'outputs[0].data', run)).toMatchObject({ text: 'hi' });
    expect(await applyQuery(HERE, 'extra.new', run)).toEqual({ json: 'true', isTrue: true });
    expect(await applyQuery(HERE, 'nothing.at.all', run)).toEqual({ json: 'null', isTrue: false });
    expect(await applyQuery(HERE, 'constructor', {})).toMatchObject({ json: 'null' });
  });

  it('refuses to apply a function to what it does not take', async () => {
    await expect(applyQuery(HERE, 'length(extra.new)', run)).rejects.toMatchObject({
      exitCode: EXIT.usage,
    });
  });
});
