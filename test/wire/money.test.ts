import { expect, it } from 'vitest';
import { dollars, formatDollars, money, parseDollars } from '../../src/wire/money.ts';

it('counts in millionths of a cent, so that a million small amounts are what they are', () => {
  const small = money(0.000_000_15);
  expect(small).toBe(15);
  let sum = 0;
  for (let count = 0; count < 1_000_000; count += 1) sum += small;
  expect(dollars(sum)).toBe(0.15);
});

it.each([
  ['2', 200_000_000],
  ['0.10', 10_000_000],
  ['.5', 50_000_000],
  ['0', 0],
  ['-1', undefined],
  ['1e3', undefined],
  ['NaN', undefined],
  ['1,5', undefined],
  ['', undefined],
])('reads %j', (text, amount) => {
  expect(parseDollars(text)).toBe(amount);
});

it.each([
  [0, '$0.00'],
  [money(12.5), '$12.50'],
  [money(0.5), '$0.50'],
  [money(0.012_34), '$0.0123'],
  [money(0.000_012_3), '$0.0000123'],
])('writes %j', (amount, text) => {
  expect(formatDollars(amount)).toBe(text);
});
