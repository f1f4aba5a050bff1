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

  it.each([
    ['a.b.', '--query: the expression is not finished'],
    ['', '--query: the expression is empty'],
    ['lenth(@)', '--query: unknown function `lenth`'],
    ['a.b c', '--query: unexpected `c`'],
  ])('explains the fault of %j', async (expression, message) => {
    expect((await catchRefusal(expression)).message).toBe(message);
  });
});

describe('applyQuery', () => {
  const run = { runId: 'x', outputs: [{ type: 'text', data: 'hi' }], extra: { new: true } };

  it('returns a selected string as text, too', async () => {
    expect(await applyQuery(CHECKS_CONTEXT, 'outputs[0].data', run)).toMatchObject({ text: 'hi' });
  });

  it('returns the JSON of another selected value, and whether it is truthy', async () => {
    expect(await applyQuery(CHECKS_CONTEXT, 'extra.new', run)).toEqual({
      json: 'true',
      isTruthy: true,
    });
  });

  it.each(['nothing.at.all', 'constructor'])(
    'returns null for %s, which is missing',
    async expression => {
      expect(await applyQuery(CHECKS_CONTEXT, expression, run)).toEqual({
        json: 'null',
        isTruthy: false,
      });
    },
  );

  it('refuses to apply a function to an invalid argument', async () => {
    await expect(applyQuery(CHECKS_CONTEXT, 'length(extra.new)', run)).rejects.toMatchObject({
      exitCode: EXIT.usage,
    });
  });
});
