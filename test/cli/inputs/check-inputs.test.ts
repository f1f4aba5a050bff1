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

const GIVEN = { topic: 'tea', tone: 'calm' };

function fault(text: Record<string, string>, images = 1, fields = FIELDS): string | undefined {
  const found = findInputFault(fields, {
    text: new Map(Object.entries(text)),
    images: Array(images).fill(''),
  });
  return found && [found.message, ...found.hints].join('\n');
}

describe('inputs against a config', () => {
  it('passes what fits, with several choices in one text', () => {
    expect(
      fault({ ...GIVEN, mood: 'rainy', days: 'mon, tue', ['__proto__']: 'x' }),
    ).toBeUndefined();
  });

  it('names everything that is missing at once', () => {
    expect(fault({}, 0)).toMatch(/^missing inputs: topic, tone, image 1 \(the front\)\n/);
  });

  it('refuses a key the prompt does not have, and says which was meant', () => {
    expect(fault({ ...GIVEN, topci: 'x' })).toMatch(/no input "topci"; did you mean topic\?/);
    expect(fault({ ...GIVEN, constructor: 'x' })).toMatch(/no input "constructor"/);
  });

  it('refuses a choice that is not listed, one of several too', () => {
    expect(fault({ ...GIVEN, mood: 'snowy' })).toMatch(/mood can't be "snowy"[^]*sunny, rainy/);
    expect(fault({ ...GIVEN, days: 'mon, tues' })).toMatch(
      /days can't be "tues"; did you mean tue\?/,
    );
  });

  it('refuses more images than the prompt takes', () => {
    expect(fault(GIVEN, 2)).toMatch(/takes one image, not 2/);
  });

  it('accepts anything if the config describes no inputs', () => {
    expect(fault({ any: 'thing' }, 3, { isKnown: false, text: [], images: [] })).toBeUndefined();
    expect(fault({}, 1, { isKnown: true, text: [], images: [] })).toBeUndefined();
  });

  it('accepts missing inputs that can still be asked for', () => {
    expect(findSuppliedInputFault(FIELDS, { text: new Map(), images: [] })).toBeUndefined();
  });
});
