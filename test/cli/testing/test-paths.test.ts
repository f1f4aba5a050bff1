import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import { PASSING } from './greeting-cases.ts';

describe('the paths that test is given', () => {
  it('reports a fault that every file meets once', async () => {
    const project = createEchoProject(PASSING, {
      'other.prompt': ECHO,
      'other.test.yaml': `cases:\n${PASSING}`,
    });
    const env = { PROMPTRUN_DATA_DIR: path.join(project.home, 'echo.prompt') };
    const { exitCode, stderr } = await project.run(['test'], { env });
    expect(stderr().match(/^error: /gmu)).toEqual(['error: ']);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('runs the other files if one cannot be read, and reports both', async () => {
    const project = createEchoProject(PASSING, {
      'bad.test.yaml': 'cases: 1\n',
      'gone.test.yaml': 'target: nobody\ncases: [{}]\n',
    });
    const out = ['--reporter', 'junit', '--out', 'a.xml', '--reporter', 'json', '--out', 'b.json'];
    const { exitCode, stdout, stderr } = await project.run(['test', ...out]);

    expect(stdout()).toContain('1 passed, 0 failed, 2 could not be run');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain('bad.test.yaml:1: cases must be a list');

    const files = ['a.xml', 'b.json'].map(file =>
      readFileSync(path.join(project.home, file), 'utf8'),
    );
    for (const text of files) expect(text).toContain('bad.test.yaml:1: cases must be a list');
  });

  it('finds the tests of a prompt file under both of their endings', async () => {
    const source = 'cases:\n  - inputs: { text: a }\n';
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yml': source,
      'alone.prompt': ECHO,
    });

    expect((await project.run(['test', 'echo.prompt'])).exitCode).toBe(0);

    const { exitCode, stderr } = await project.run(['test', 'alone.prompt']);
    expect(stderr()).toMatch(
      /^error: alone\.prompt has no tests: alone\.test\.yaml does not exist next to it .*\n.*help/u,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each(['', ' '])('refuses the empty path %j', async name => {
    const { exitCode, stderr } = await new Project({}).run(['test', name]);
    expect(stderr()).toContain('path of a test file or directory is empty');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('suggests to rename the tests of a prompt that was renamed', async () => {
    const project = new Project({
      'new.prompt': ECHO,
      'old.test.yaml': 'cases:\n  - inputs: { text: a }\n',
    });
    const { exitCode, stderr } = await project.run(['test']);
    expect(stderr()).toMatch(
      /^error: old\.test\.yaml:1: the prompt file .*\nRename the test file with its prompt, or /u,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('suggests the file whose ending was left out', async () => {
    const project = createEchoProject('  - inputs: { text: a }\n');
    const { exitCode, stderr } = await project.run(['test', 'echo']);
    expect(stderr()).toBe('error: echo does not exist; did you mean echo.prompt? (USAGE_ERROR)\n');
    expect(exitCode).toBe(EXIT.usage);
  });
});
