import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { Project } from '../../../support/project.ts';

const CONFIG = `prompts: ['{{a}}']
providers: [echo]
tests:
  - { description: bare, vars: { a: x }, assert: [{ type: similar, value: y }] }
  - { description: partly, vars: { a: x }, assert: [{ type: similar, value: y }, { type: contains, value: x }] }
`;

const REPORTERS = ['json', 'junit', 'github', 'markdown', 'html'];

describe('a case whose checks are all left out', () => {
  it('is unchecked in every report, and never passed', async () => {
    const project = new Project({ 'promptfooconfig.yaml': CONFIG });
    const outputs = REPORTERS.flatMap(name => ['--reporter', name, '--out', name]);
    const argv = ['test', '--skip-unsupported', ...outputs];
    const { exitCode, stderr } = await runInProcess(argv, {
      home: project.home,
      local: localService,
    });
    const read = (name: string): string => readFileSync(path.join(project.home, name), 'utf8');

    expect(exitCode).toBe(0);
    expect(stderr()).toContain('promptfooconfig.yaml:4: the assertion `similar` has no equivalent');
    expect(stderr()).toContain('left out: 2 checks, 0 cases');
    expect((await project.run(['test', '--skip-unsupported'])).stdout()).toContain(
      'UNCHECKED promptfooconfig.yaml: bare',
    );
    expect(JSON.parse(read('json'))).toMatchObject({
      passed: 1,
      unchecked: 1,
      totals: { runs: 1 },
      cases: [{ name: 'bare', status: 'unchecked' }, { name: 'partly' }],
    });

    expect(read('junit')).toMatch(/tests="2" failures="0" errors="0" skipped="1"/u);
    expect(read('junit')).toMatch(
      /<testcase[^>]* name="bare"[^>]*>\s*<skipped [^>]*\/>\s*<\/testcase>/u,
    );
    expect(read('github')).not.toContain('::error');
    expect(read('html')).toContain('<span class="tag">unchecked</span>');

    for (const name of ['markdown', 'html']) {
      expect(read(name)).toContain('1 passed, 0 failed, 1 unchecked');
    }
  });

  it('fails the command if nothing else was checked', async () => {
    const project = new Project({
      'promptfooconfig.yaml': CONFIG.replace(/ {2}- \{ description: partly.*\n/u, ''),
    });
    const { exitCode, stdout, stderr } = await project.run([
      'test',
      '--skip-unsupported',
      '--json',
    ]);

    expect(exitCode).toBe(EXIT.usage);
    expect(JSON.parse(stdout())).toMatchObject({ passed: 0, unchecked: 1 });
    expect(stderr()).toContain('nothing was checked: all checks were left out');
  });
});
