import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Project } from './support.ts';

const CONFIG = `description: greetings
prompts: ['Say {{a}}', 'Tell {{a}}']
providers: [echo]
tags: { team: docs }
sharing: false
tests:
  - vars: { a: Hello, want: Say }
    assert:
      - { type: contains, value: Hello, metric: politeness }
      - { type: javascript, value: output.includes(context.vars.want) }
`;

async function tested(files: Readonly<Record<string, string>>, ...argv: string[]) {
  const project = new Project(files);
  const { exitCode, stdout, stderr } = await project.run(['test', ...argv]);
  return { project, exitCode, stdout: stdout(), stderr: stderr() };
}

describe('test of a configuration of promptfoo', () => {
  it('runs its tests with each of its prompts and writes nothing', async () => {
    const { project, exitCode, stdout } = await tested({ 'sub/promptfooconfig.yaml': CONFIG }, 'sub');
    expect(exitCode).toBe(5);
    expect(stdout).toContain('passed sub/promptfooconfig.yaml: case 1 (prompt 1)');
    expect(stdout).toContain('FAILED sub/promptfooconfig.yaml: case 1 (prompt 2)');
    expect(stdout).toContain('promptfooconfig.yaml:7: "output.includes(context.vars.want)" gives false');
    expect(readdirSync(path.join(project.home, 'sub'))).toEqual(['promptfooconfig.yaml']);
  });

  it('names all that has no equivalent with its line, and sends nothing', async () => {
    const config = CONFIG.replace('type: contains,', 'type: similar,').replace(
      '  - vars',
      '  - threshold: 0.5\n    vars',
    );
    const { exitCode, stdout, stderr } = await tested(
      { 'promptfooconfig.yaml': config },
      'promptfooconfig.yaml',
    );
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('promptfooconfig.yaml:7: `threshold` of a test has no equivalent');
    expect(stderr).toContain('promptfooconfig.yaml:10: the assertion `similar` has no equivalent');
  });

  it.each([
    ['an unknown provider', 'providers: [acme:one]', 'the provider `acme:one` has no equivalent'],
    ['no provider', 'description: x', 'none of its providers is known'],
    ['a program', 'providers: ["exec:./bot"]', ':2: the provider `exec:./bot` is a program, which runs only'],
  ])('refuses %s', async (_, providers, words) => {
    const { exitCode, stdout, stderr } = await tested({
      'promptfooconfig.yaml': CONFIG.replace('providers: [echo]', providers).replace(
        /^description: g.*\n/u,
        '',
      ),
    });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  it('runs each case as often as evaluateOptions say', async () => {
    const { stdout } = await tested(
      { 'promptfooconfig.yaml': `${CONFIG.replace(", 'Tell {{a}}'", '')}evaluateOptions: { repeat: 3 }\n` },
      '--json',
    );
    expect(stdout.match(/"runId"/gu)).toHaveLength(3);
  });

  it('is not updated', async () => {
    const { project, exitCode } = await tested({ 'promptfooconfig.yaml': CONFIG }, '--update');
    expect(exitCode).toBe(2);
    expect(readFileSync(path.join(project.home, 'promptfooconfig.yaml'), 'utf8')).toBe(CONFIG);
  });
});
