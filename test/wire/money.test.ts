import { expect, it } from 'vitest';
import { formatDollars, parseDollars, toDollars, toMoney } from '../../src/wire/money.ts';

it('counts in millionths of a cent, so that a million small amounts are what they are', () => {
  const small = toMoney(0.000_000_15);
  expect(small).toBe(15);
  let sum = 0;
  for (let count = 0; count < 1_000_000; count += 1) sum += small;
  expect(toDollars(sum)).toBe(0.15);
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
  [toMoney(12.5), '$12.50'],
  [toMoney(0.5), '$0.50'],
  [toMoney(0.012_34), '$0.0123'],
  [toMoney(0.000_012_3), '$0.0000123'],
])('writes %j', (amount, text) => {
  expect(formatDollars(amount)).toBe(text);
});
