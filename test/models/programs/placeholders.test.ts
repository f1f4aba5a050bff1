import { describe, expect, it } from 'vitest';
import {
  fillText,
  fillValue,
  type GetPlaceholderValue,
} from '../../../src/models/programs/placeholders.ts';

const VALUES: Record<string, string | number[]> = {
  prompt: '${model} $${x',
  messages: [1, 2],
  model: 'bot',
};

const placeholderValue: GetPlaceholderValue = placeholder =>
  'key' in placeholder ? 7 : (VALUES[placeholder.name] ?? null);

describe('placeholders', () => {
  it('are filled in once, whatever the value says', () => {
    expect(fillText('<${prompt}|${model}>', placeholderValue)).toBe('<${model} $${x|bot>');
  });

  it('turn $${ into a literal ${', () => {
    expect(fillText('$${model} costs $5 $$${model}', placeholderValue)).toBe(
      '${model} costs $5 $${model}',
    );
  });

  it('keep the type of what they stand for if they stand alone', () => {
    const body = {
      list: '${messages}',
      number: '${input.n}',
      text: 'n=${input.n} ${messages}',
      other: [true, 1],
    };
    expect(
      fillValue(body, { getJsonValue: placeholderValue, getTextValue: placeholderValue }),
    ).toEqual({
      list: [1, 2],
      number: 7,
      text: 'n=7 [1,2]',
      other: [true, 1],
    });
  });
});
