import { describe, expect, it } from 'vitest';
import { OPTION_NAMES } from '../../../src/models/model-entry.ts';
import { createRefusalFault } from '../../../src/models/providers/answers/refusal-fault.ts';
import { listRefusedOptions } from '../../../src/models/providers/answers/refused-option.ts';
import type { RealError } from '../../support/providers/real-error.ts';
import { UNSUPPORTED } from '../../support/providers/real-errors.ts';
import { REFUSALS } from '../../support/providers/real-refusals.ts';

const findFault = ({
  status,
  headers = {},
  body,
}: Omit<RealError, 'provider' | 'means' | 'source' | 'says'>) =>
  createRefusalFault({ status, headers, text: body });

const meaning = (...means: RealError['means'][]): RealError[] =>
  REFUSALS.filter(error => means.includes(error.means));

describe('a refusal', () => {
  it.each([...UNSUPPORTED, ...REFUSALS])('is in the words of $provider: $says', error => {
    expect(findFault(error).message).toContain(error.says);
  });

  it.each(meaning('key'))('says that the key is not valid: $provider $status', error => {
    expect(findFault(error).details.fault).toBe('unauthorised');
  });

  it.each(meaning('quota').filter(({ status }) => status === 429))(
    'says that the quota is used up',
    error => {
      expect(findFault(error).details).toMatchObject({ fault: 'quota', isQuotaUsedUp: true });
    },
  );

  it.each(meaning('busy'))('says that $provider is busy, whatever its words', error => {
    expect(findFault(error).details).toMatchObject({ fault: 'busy', isQuotaUsedUp: false });
  });

  it('says how long Gemini wants to be left alone', () => {
    const waits = meaning('busy').map(error => findFault(error).details.retryAfterMs);
    expect(waits).toContain(55_000);
  });

  it.each(meaning('overloaded'))('says that $provider did nothing', error => {
    expect(findFault(error).details).toMatchObject({ isOverloaded: true, isRefused: true });
  });

  it.each(meaning('gateway'))(
    "of a gateway doesn't mean that the model is overloaded: $provider",
    error => {
      expect(findFault(error).details.isOverloaded).toBe(false);
    },
  );

  it.each([
    ['retry-after-ms', 'Infinity'],
    ['retry-after-ms', '-5'],
    ['retry-after', '1e999'],
    ['retry-after', 'soon'],
  ])('ignores a wait that is not valid: %s %s', (name, value) => {
    expect(
      createRefusalFault({ status: 429, headers: { [name]: value }, text: '' }).details
        .retryAfterMs,
    ).toBeUndefined();
  });

  it('with markup that is not a web page is shown', () => {
    expect(
      createRefusalFault({ status: 400, headers: {}, text: '<bad request: no model>' }).message,
    ).toBe('answered 400 <bad request: no model>');
  });
});

describe('an option that a provider refuses', () => {
  const all = new Set(OPTION_NAMES);
  const known = UNSUPPORTED.filter(
    ({ means, option }) => means === 'option' && option !== undefined,
  );
  it.each(known)('is known by its name: $provider $option', error => {
    const options =
      error.option === 'penalties' ? ['frequencyPenalty', 'presencePenalty'] : [error.option];
    expect(listRefusedOptions(findFault(error), all)).toEqual(options);
  });

  it.each([
    [
      422,
      '{"object":"error","message":{"detail":[{"loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}}',
      ['seed'],
    ],
    [
      400,
      '{"code":"x","error":"Model grok-4 does not support parameter stop."}',
      ['stopSequences'],
    ],
    [400, '{"error":{"message":"`temperature` and `top_p` cannot both be specified"}}', ['topP']],
    [400, '{"error":{"message":"\'n\' is not supported","param":null}}', ['n']],
    [500, '{"error":{"message":"temperature is not supported"}}', []],
    [400, '{"error":{"message":"temperature must be at most 1"}}', []],
    [400, '{"error":{"message":"stop: response_format is not supported"}}', []],
  ])('is distinguished from other faults: %i %s', (status, body, options) => {
    expect(listRefusedOptions(findFault({ status, body }), all)).toEqual(options);
  });

  it('is not one of those that were not sent', () => {
    const fault = findFault({
      status: 400,
      body: '{"error":{"message":"temperature is not supported"}}',
    });
    expect(listRefusedOptions(fault, new Set(['seed']))).toEqual([]);
  });
});
