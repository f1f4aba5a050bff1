import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Comparison, Simulation } from './simulation.ts';

function expectWithin(value: number, min: number, max: number): void {
  expect(value).toBeGreaterThanOrEqual(min);
  expect(value).toBeLessThanOrEqual(max);
}

const formatPercent = (share: number): string => `${Math.round(share * 100)} %`;

/** The numbers of cases and of their repetitions in the guide. */
const GUIDE_ROWS = [
  [50, 1],
  [100, 1],
  [300, 1],
  [1000, 1],
  [12, 5],
  [12, 25],
] as const;

describe('in two thousand trials of models with a known rate', () => {
  it.each([5, 10, 30, 100])("Wilson's interval of %i answers covers the rate", runs => {
    const simulation = new Simulation(runs);
    expectWithin(simulation.measureWilsonCoverage(runs), 0.93, 0.97);
    for (const rate of [0.3, 0.5, 0.7, 0.9]) {
      expectWithin(simulation.measureWilsonCoverage(runs, rate), 0.91, 0.985);
    }
  });

  it.each([
    [12, 5],
    [40, 3],
    [100, 10],
  ])('the interval of the mean of %i cases with %i repetitions covers it', (cases, runs) => {
    expectWithin(new Simulation(3).measureMeanCoverage(cases, runs), 0.93, 0.97);
  });

  it.each([0.2, 0.5, 0.8, 0.95])(
    'the confidence sequence covers the rate %d at every stop',
    rate => {
      expect(new Simulation(4).measureSequenceCoverage(rate)).toBeGreaterThanOrEqual(0.95);
    },
  );

  it.each([0.5, 0.8, 0.9])('at most one decision in twenty about %d is wrong', required => {
    const simulation = new Simulation(5);
    for (const rate of [required, required - 0.1, required + 0.05]) {
      expect(simulation.simulateSequentialTest(required, rate).wrong).toBeLessThanOrEqual(0.05);
    }
  });

  it.each([0.8, 0.9])('a rate 20 points below %d is decided with half of the answers', required => {
    expect(
      new Simulation(6).simulateSequentialTest(required, required - 0.2).answers,
    ).toBeLessThanOrEqual(50);
  });

  it.each([
    { cases: 300, before: 0.9, after: 0.9 },
    { cases: 50, before: 0.8, after: 0.8 },
    { cases: 12, runs: 5, before: 0.8, after: 0.8 },
  ])('at most one comparison in twenty of $cases unchanged cases finds them worse', comparison => {
    expect(new Simulation(7).measureWorseVerdicts(comparison)).toBeLessThanOrEqual(0.05);
  });

  it('the numbers of answers are those of the guide', () => {
    const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/how-sure.md'), 'utf8');
    for (const required of [0.8, 0.9]) {
      for (const rate of [0.6, 0.7, 0.8, 0.9, 0.95, 0.99]) {
        const { answers, undecided } = new Simulation(9).simulateSequentialTest(required, rate);
        expect(guide).toContain(
          `| ${formatPercent(required)} | ${formatPercent(rate)} | ${Math.round(answers)} | ${formatPercent(undecided)} |\n`,
        );
      }
    }
  });

  it('300 cases find a prompt that became 10 points worse in nine trials of ten', () => {
    expect(
      new Simulation(8).measureWorseVerdicts({ cases: 300, before: 0.9, after: 0.8 }),
    ).toBeGreaterThanOrEqual(0.9);
  });

  it('300 cases let an unchanged prompt pass in 19 trials of 20', () => {
    const comparison = { cases: 300, before: 0.9, after: 0.9 };
    expect(1 - new Simulation(8).measureWorseVerdicts(comparison)).toBeGreaterThanOrEqual(0.95);
  });

  it('the shares of found changes are those of the guide', () => {
    const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/how-sure.md'), 'utf8');
    const formatWorseShare = (comparison: Comparison) =>
      `${Number((new Simulation(10).measureWorseVerdicts(comparison) * 100).toFixed(1))} %`;
    for (const [cases, runs] of GUIDE_ROWS) {
      const foundShares = [0.9, 0.85, 0.8, 0.7].map(after =>
        formatWorseShare({ cases, runs, before: 0.9, after }),
      );
      expect(guide).toContain(`| ${cases} | ${runs} | ${foundShares.join(' | ')} |\n`);
    }
  });
});
