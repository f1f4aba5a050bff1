import { Project } from '../../../support/project.ts';

/** Two prompts and one case, which the second prompt fails. */
export const CONFIG = `description: greetings
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

/** Runs `test` in a directory with these files. */
export async function runConfiguration(files: Readonly<Record<string, string>>, ...argv: string[]) {
  const project = new Project(files);
  const { exitCode, stdout, stderr } = await project.run(['test', ...argv]);
  return { project, exitCode, stdout: stdout(), stderr: stderr() };
}
