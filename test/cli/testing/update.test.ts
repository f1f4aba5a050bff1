import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import { FAILING } from './greeting-cases.ts';

describe('test --update', () => {
  it.each(['\n', '\r\n'])(
    'writes the answers into the file, and changes no other byte: %j',
    async lineBreak => {
      const before = `  # of Ada
  - inputs: { text: '{"a":1,"b":2}' }
    expect:
      - json: { a: 2 } # only a
      - contains: a
  - inputs: {   text: "hello"   }
    expect: [{ contains: hell }, { equals: hei }]   # both on one line
  - inputs: { text: "one\\ntwo" }
    expect:
      equals: |
        three

  - inputs: { text: '{"n":1,"m":[1,"x"]}' }
    expect:
      json:
        n: 2 # a number
        m: [1, y]   # and a list
  - inputs: { text: 'a: {"name":1}' }
    transform: output.slice(3)
    expect:
      - json: { name: 2 } # of what the transform left
      - { transform: 'output.slice(2, 6)', equals: nick }
`;
      const project = createEchoProject(before.replaceAll('\n', lineBreak));
      const { exitCode } = await project.run(['test', '--update']);

      expect(exitCode).toBe(0);

      const expected = before
        .replace('{ a: 2 }', '{ a: 1 }')
        .replace('equals: hei', 'equals: hello')
        .replace('|\n        three', '|-\n        one\n        two')
        .replace('n: 2', 'n: 1')
        .replace('[1, y]', '[1, x]')
        .replace('{ name: 2 }', '{ name: 1 }')
        .replace('equals: nick', 'equals: name')
        .replaceAll('\n', lineBreak);
      expect(readFileSync(path.join(project.home, 'echo.test.yaml'), 'utf8')).toBe(
        `cases:\n${expected}`,
      );
      expect((await project.run(['test'])).exitCode).toBe(0);
    },
  );

  it('refuses a read-only file before anything is created', async () => {
    const project = createEchoProject(FAILING);
    chmodSync(path.join(project.home, 'echo.test.yaml'), 0o444);
    const { exitCode, stdout, stderr } = await project.run(['test', '--update']);

    expect(stdout()).toBe('');
    expect(stderr()).toMatch(
      /--update: echo\.test\.yaml is read-only .*\n.*(?:chmod u\+w|attrib -r) echo\.test\.yaml/u,
    );
    expect(exitCode).toBe(EXIT.usage);
    expect((await project.run(['runs', 'list'])).stdout()).toBe('');
  });

  it('reports every file that could not be written', async () => {
    const cases = (script: string): string => `target: echo.prompt
cases:
  - inputs: { text: hello }
    expect: [{ javascript: file://${script} }, { equals: hi }]
`;

    const project = new Project({
      'echo.prompt': ECHO,
      'one.test.yaml': cases('remove.mjs'),
      'two.test.yaml': cases('remove.mjs'),
      'remove.mjs': `import { rmSync } from 'node:fs';
export default () => {
  for (const name of ['one', 'two']) rmSync(name + '.test.yaml', { force: true });
  return true;
};
`,
    });
    const { exitCode, stderr } = await project.run(['test', '--update', '--allow-commands']);

    expect(exitCode).toBe(EXIT.fault);
    expect(stderr()).toMatch(/one\.test\.yaml was not updated: ENOENT/u);
    expect(stderr()).toMatch(/two\.test\.yaml was not updated: ENOENT/u);
  });

  it('never reports as passed what it did not write', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `models: [echo, card]
cases:
  - inputs: { text: abc }
    expect: [{ contains: zzz }, { equals: abd }]
`,
    });
    const { exitCode, stdout } = await project.run(['test', '--update']);

    expect(stdout()).toContain('0 passed, 2 failed');
    expect(exitCode).toBe(EXIT.runFailed);
    expect(readFileSync(path.join(project.home, 'echo.test.yaml'), 'utf8')).toContain(
      '{ equals: abc }',
    );
    expect(stdout()).toContain('is not equal');
  });
});
