import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Comparison, Simulation } from './simulation.ts';

function expectWithin(value: number, least: number, most: number): void {
  expect(value).toBeGreaterThanOrEqual(least);
  expect(value).toBeLessThanOrEqual(most);
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Cases and their repetitions. */
const GATES = [
  [50, 1],
  [100, 1],
  [300, 1],
  [1000, 1],
  [12, 5],
  [12, 25],
] as const;

describe('two thousand trials of models with a known rate', () => {
  it.each([5, 10, 30, 100])("cover the rate with Wilson's interval of %i answers", runs => {
    const simulation = new Simulation(runs);
    expectWithin(simulation.wilsonCoverage(runs), 0.93, 0.97);
    for (const rate of [0.3, 0.5, 0.7, 0.9]) {
      expectWithin(simulation.wilsonCoverage(runs, rate), 0.91, 0.985);
    }
  });

  it.each([
    [12, 5],
    [40, 3],
    [100, 10],
  ])('cover the mean of %i cases with %i repetitions', (cases, runs) => {
    expectWithin(new Simulation(3).meanCoverage(cases, runs), 0.93, 0.97);
  });

  it.each([0.2, 0.5, 0.8, 0.95])('cover the rate %d at every stop', rate => {
    expect(new Simulation(4).sequenceCoverage(rate)).toBeGreaterThanOrEqual(0.95);
  });

  it.each([0.5, 0.8, 0.9])('decide wrongly about %d at most once in twenty', required => {
    const simulation = new Simulation(5);
    for (const rate of [required, required - 0.1, required + 0.05]) {
      expect(simulation.sure(required, rate).wrong).toBeLessThanOrEqual(0.05);
    }
  });

  it.each([0.8, 0.9])('save half of the answers 20 points below %d', required => {
    expect(new Simulation(6).sure(required, required - 0.2).answers).toBeLessThanOrEqual(50);
  });

  it.each([
    { cases: 300, before: 0.9, after: 0.9 },
    { cases: 50, before: 0.8, after: 0.8 },
    { cases: 12, runs: 5, before: 0.8, after: 0.8 },
  ])('raise a false alarm at most once in twenty: $cases cases', comparison => {
    expect(new Simulation(7).foundWorse(comparison)).toBeLessThanOrEqual(0.05);
  });

  it('are what the guide shows', () => {
    const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/how-sure.md'), 'utf8');
    for (const required of [0.8, 0.9]) {
      for (const rate of [0.6, 0.7, 0.8, 0.9, 0.95, 0.99]) {
        const { answers, undecided } = new Simulation(9).sure(required, rate);
        expect(guide).toContain(
          `| ${percent(required)} | ${percent(rate)} | ${Math.round(answers)} | ${percent(undecided)} |\n`,
        );
      }
    }
  });

  it('stop a prompt that became 10 points worse nine times of ten on 300 cases', () => {
    expect(
      new Simulation(8).foundWorse({ cases: 300, before: 0.9, after: 0.8 }),
    ).toBeGreaterThanOrEqual(0.9);
  });

  it('let one that changes nothing pass 19 times of 20 on 300 cases', () => {
    const comparison = { cases: 300, before: 0.9, after: 0.9 };
    expect(1 - new Simulation(8).foundWorse(comparison)).toBeGreaterThanOrEqual(0.95);
  });

  it('produce the table of gates in the guide', () => {
    const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/how-sure.md'), 'utf8');
    const worse = (comparison: Comparison) =>
      `${Number((new Simulation(10).foundWorse(comparison) * 100).toFixed(1))} %`;
    for (const [cases, runs] of GATES) {
      const found = [0.9, 0.85, 0.8, 0.7].map(after => worse({ cases, runs, before: 0.9, after }));
      expect(guide).toContain(`| ${cases} | ${runs} | ${found.join(' | ')} |\n`);
    }
  });
});
