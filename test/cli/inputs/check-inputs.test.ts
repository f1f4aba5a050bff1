import { describe, expect, it } from 'vitest';
import { findInputFault, findSuppliedInputFault } from '../../../src/cli/inputs/check-inputs.ts';
import type { InputFields } from '../../../src/cli/inputs/input-fields.ts';

const FIELDS: InputFields = {
  isKnown: true,
  text: [
    { key: 'topic', required: true, description: 'what it is about' },
    { key: 'tone', required: true },
    { key: 'mood', required: false, choices: ['sunny', 'rainy'] },
    { key: 'days', required: false, choices: ['mon', 'tue'], multiple: {} },
    { key: '__proto__', required: false },
  ],
  images: [{ description: 'the front' }],
};

const REQUIRED_TEXTS = { topic: 'tea', tone: 'calm' };

/** Returns the message and the hints of the first fault; undefined if there is none. */
function describeFault(
  text: Record<string, string>,
  imageCount = 1,
  fields = FIELDS,
): string | undefined {
  const findFault = findInputFault(fields, {
    text: new Map(Object.entries(text)),
    images: Array(imageCount).fill(''),
  });
  return findFault && [findFault.message, ...findFault.hints].join('\n');
}

describe('the check of inputs against a config', () => {
  it('accepts inputs that fit, with several choices in one text', () => {
    expect(
      describeFault({ ...REQUIRED_TEXTS, mood: 'rainy', days: 'mon, tue', ['__proto__']: 'x' }),
    ).toBeUndefined();
  });

  it('names all missing inputs at once', () => {
    expect(describeFault({}, 0)).toMatch(/^missing inputs: topic, tone, image 1 \(the front\)\n/);
  });

  it('refuses a key that the prompt does not have, and suggests the nearest', () => {
    expect(describeFault({ ...REQUIRED_TEXTS, topci: 'x' })).toMatch(
      /no input "topci"; did you mean topic\?/,
    );
    expect(describeFault({ ...REQUIRED_TEXTS, constructor: 'x' })).toMatch(
      /no input "constructor"/,
    );
  });

  it('refuses a choice that is not listed, also among several', () => {
    expect(describeFault({ ...REQUIRED_TEXTS, mood: 'snowy' })).toMatch(
      /mood can't be "snowy"[^]*sunny, rainy/,
    );
    expect(describeFault({ ...REQUIRED_TEXTS, days: 'mon, tues' })).toMatch(
      /days can't be "tues"; did you mean tue\?/,
    );
  });

  it('refuses more images than the prompt takes', () => {
    expect(describeFault(REQUIRED_TEXTS, 2)).toMatch(/takes one image, not 2/);
  });

  it('accepts anything if the config describes no inputs', () => {
    expect(
      describeFault({ any: 'thing' }, 3, { isKnown: false, text: [], images: [] }),
    ).toBeUndefined();
    expect(describeFault({}, 1, { isKnown: true, text: [], images: [] })).toBeUndefined();
  });

  it('accepts missing inputs if only supplied ones are checked', () => {
    expect(findSuppliedInputFault(FIELDS, { text: new Map(), images: [] })).toBeUndefined();
  });
});
