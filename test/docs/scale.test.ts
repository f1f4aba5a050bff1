import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { predict, predictFleets, REFERENCE } from '../bench/scale-model.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('docs/scale.md shows what the simulation predicts', () => {
  const guide = readFileSync(path.join(root, 'docs/scale.md'), 'utf8');
  const rows = predictFleets(REFERENCE).map(({ instances, perSecond, database, instance }) => {
    const shares = [database, instance].map(share => `${Math.round(20 * share) * 5} %`);
    return `| ${instances} | ${Math.round(perSecond / 100) * 100} | ${shares.join(' | ')} |`;
  });
  expect(guide.split('\n').filter(line => /^\| \d/.test(line))).toEqual(rows);
});

test('every metric that docs/scale.md names is there', () => {
  const guide = readFileSync(path.join(root, 'docs/scale.md'), 'utf8');
  const source = readFileSync(path.join(root, 'src/service/http/metrics.ts'), 'utf8');
  const metrics = new Set(guide.match(/promptrun_\w+/g));
  expect(metrics.size).toBeGreaterThan(3);
  for (const name of metrics) expect(source).toContain(`'${name}'`);
});

test('the simulation returns the same figures each time, and faster ones if one part is faster', () => {
  const machine = { instances: 1, open: 24, users: 1, processors: 2, isOneMachine: true };
  const usual = predict(REFERENCE, machine);

  expect(predict(REFERENCE, machine)).toEqual(usual);

  // A single thread is the limit of one instance, and the processors that of several.
  expect(usual.instance).toBeGreaterThan(0.8);

  const fewer = predict(REFERENCE, { ...machine, instances: 4, processors: 1 });
  expect(fewer.perSecond).toBeLessThan(predict(REFERENCE, { ...machine, instances: 4 }).perSecond);

  // One open creation at a time waits for every step.
  const { client, node, nodeStatement, databaseRow, databaseStatement, commit } = REFERENCE;
  const stepsMs = client + node + 2 * (nodeStatement + databaseRow + databaseStatement + commit);
  const alone = predict(REFERENCE, { ...machine, open: 1 }).perSecond;

  expect(Math.abs(alone / (1000 / stepsMs) - 1)).toBeLessThan(0.05);
});
