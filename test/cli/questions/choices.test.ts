import { describe, expect, it } from 'vitest';
import {
  explainChoiceCount,
  explainNumberProblem,
  filterChoices,
} from '../../../src/cli/questions/choices.ts';
import {
  findChoice,
  findChoices,
  formatNumberedList,
} from '../../../src/cli/questions/line-prompter.ts';

const choices = [
  { value: 1, name: 'Crème brûlée', description: 'a dessert' },
  { value: 2, name: 'Ice cream', description: 'a dessert' },
  { value: 3, name: 'Bread' },
];

const filterToValues = (words: string) => filterChoices(choices, words).map(choice => choice.value);

describe('filtered choices', () => {
  it('have every word, in name or description, whatever the case and accents', () => {
    expect(filterToValues('')).toEqual([1, 2, 3]);
    expect(filterToValues('CREME')).toEqual([1]);
    expect(filterToValues('cre dess')).toEqual([1, 2]);
    expect(filterToValues('pie')).toEqual([]);
  });

  it('begin with those whose names begin with the words', () => {
    expect(
      filterChoices([{ value: 1, name: 'sandbread' }, ...choices.slice(2, 3)], 'bread').map(
        one => one.value,
      ),
    ).toEqual([3, 1]);
  });
});

describe('a number of choices', () => {
  it.each([
    { count: 1, bounds: { min: 1, max: 2 } },
    { count: 0, bounds: { min: 1, max: 2 }, problem: 'Choose from 1 to 2; 0 chosen.' },
    { count: 3, bounds: { max: 2 }, problem: 'Choose at most 2; 3 chosen.' },
    { count: 1, bounds: { min: 2 }, problem: 'Choose at least 2; 1 chosen.' },
    { count: 1, bounds: { min: 2, max: 2 }, problem: 'Choose exactly 2; 1 chosen.' },
    { count: 9, bounds: {} },
  ])('explains the problem of $count chosen for $bounds', ({ count, bounds, problem }) => {
    expect(explainChoiceCount(count, bounds)).toBe(problem);
  });
});

it.each([
  { value: 3, limits: { isInteger: true } },
  { value: -0.5, limits: {} },
  { value: 0.5, limits: { isInteger: true }, problem: 'Enter a whole number.' },
  { value: Number.NaN, limits: {}, problem: 'Enter a number.' },
  { value: Number.POSITIVE_INFINITY, limits: {}, problem: 'Enter a number.' },
  { value: 2 ** 60, limits: {}, problem: 'This number is too large to be kept exactly.' },
])('explains the problem of the number $value with $limits', ({ value, limits, problem }) => {
  expect(explainNumberProblem(value, limits)).toBe(problem);
});

describe('choices in plain lines', () => {
  it('are numbered and cut to the width', () => {
    expect(formatNumberedList(choices, 24)).toBe(
      '  1. Crème brûlée: a de…\n  2. Ice cream: a desse…\n  3. Bread\n',
    );
  });

  it('are found by number, by name, or by words that match no other', () => {
    expect(findChoice(choices, '2')).toEqual({ answer: 2 });
    expect(findChoice(choices, 'Bread')).toEqual({ answer: 3 });
    expect(findChoice(choices, 'ice')).toEqual({ answer: 2 });
    expect(findChoice(choices, 'dessert')).toEqual({ problem: 'More than one choice matches.' });
    expect(findChoice(choices, '4')).toEqual({ problem: 'Choose from 1 to 3.' });
    expect(findChoice(choices, '')).toEqual({ problem: 'Choose from 1 to 3.' });
  });

  it('take a name that is a number before the number', () => {
    expect(
      findChoice(
        [
          { value: 'a', name: '2' },
          { value: 'b', name: '1' },
        ],
        '1',
      ),
    ).toEqual({ answer: 'b' });
  });

  it('may be several, each once, the defaults if nothing is typed', () => {
    const question = { message: 'some', choices, defaults: [3], min: 1, max: 2 };
    expect(findChoices(question, '1, Bread, 3')).toEqual({ answer: [1, 3] });
    expect(findChoices(question, '')).toEqual({ answer: [3] });
    expect(findChoices(question, '1,2,3')).toEqual({ problem: 'Choose from 1 to 2; 3 chosen.' });
    expect(findChoices(question, '1,x')).toEqual({ problem: 'Choose from 1 to 3.' });
  });
});
