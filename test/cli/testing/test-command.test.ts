import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import { FAILING, PASSING } from './greeting-cases.ts';

describe('the exit code of tests', () => {
  it('is 0 if all passed', async () => {
    const { exitCode, stdout } = await createEchoProject(PASSING).run(['test']);
    expect(stdout()).toContain('1 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  it('is 5 if some failed', async () => {
    expect((await createEchoProject(PASSING + FAILING).run(['test'])).exitCode).toBe(
      EXIT.runFailed,
    );
  });

  it('is that of a case that could not be run, even if others failed', async () => {
    const project = createEchoProject(FAILING, {
      'gone.test.yaml':
        'target: describe\ncases:\n  - images: [https://127.0.0.1/a.png]\n    expect: [{ contains: Ada }]\n',
    });
    const { exitCode, stdout } = await project.run(['test', '--concurrency', '1']);
    expect(stdout()).toContain('could not be run');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is 5 for a run that failed', async () => {
    const project = new Project({
      's.test.yaml':
        'target: sandbox\ncases:\n  - options: { outcome: failed }\n    expect: [{ contains: x }]\n',
    });
    const { exitCode, stdout } = await project.run(['test']);
    expect(stdout()).toContain('the run failed: ');
    expect(stdout()).toContain('0 passed, 1 failed');
    expect(exitCode).toBe(EXIT.runFailed);
  });
});

describe('repetitions', () => {
  const cases = `
  - name: thrice
    inputs: { text: a }
    expect: [{ equals: b }]
    repeat: 3
    pass: 2
  - name: once
    inputs: { text: a }
    expect: [{ equals: a }]
`;

  it('are one entry of the report, which its threshold decides', async () => {
    const { stdout, exitCode } = await createEchoProject(cases).run(['test']);
    expect(stdout()).toContain('0 of 3 (0–56 %), 2 needed');
    expect(stdout()).toContain('1 passed, 1 failed');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('are a run each', async () => {
    const project = createEchoProject(cases);
    await project.run(['test']);
    const { stdout } = await project.run(['runs', 'list', '--json']);
    expect(JSON.parse(stdout())).toHaveLength(4);
  });
});

describe('the test command', () => {
  it('publishes nothing under the name of the file that it runs', async () => {
    const project = createEchoProject(PASSING);
    await project.run(['test']);
    const { exitCode, stderr } = await project.run(['run', 'echo', '-i', 'text=a']);
    expect(stderr()).toContain('the prompt "echo" does not exist');
    expect(exitCode).toBe(EXIT.notFound);
  });

  it('runs every case with each of its models', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `models: [echo, card]\ncases:${PASSING}`,
    });
    const { stdout, exitCode } = await project.run(['test']);

    expect(stdout()).toContain('passed echo.test.yaml: greets [echo]');
    expect(stdout()).toContain('FAILED echo.test.yaml: greets [card]');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('runs only what --filter names', async () => {
    const { stdout } = await createEchoProject(PASSING + FAILING).run([
      'test',
      '--filter',
      'norwegian GREETS',
    ]);
    expect(stdout()).toContain('0 passed, 1 failed');
  });

  it('takes several reports, each with its own file', async () => {
    const twice = ['--reporter', 'junit', '--reporter', 'json'];
    expect((await createEchoProject(PASSING).run(['test', ...twice])).exitCode).toBe(EXIT.usage);
    const same = ['--out', 'x', '--out', './x'];
    expect((await createEchoProject(PASSING).run(['test', ...twice, ...same])).exitCode).toBe(
      EXIT.usage,
    );
    expect((await createEchoProject(PASSING).run(['test', '--out', 'x'])).exitCode).toBe(
      EXIT.usage,
    );
  });

  it('runs every case with the models of -m, whatever its file names', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `model: sandbox\ncases:${PASSING}`,
    });
    const { stdout } = await project.run(['test', '-m', 'echo,card', '-m', 'echo']);

    expect(stdout()).toContain('passed echo.test.yaml: greets [echo]');
    expect(stdout()).toContain('FAILED echo.test.yaml: greets [card]');
    expect(stdout()).toContain('1 passed, 1 failed');
  });

  it('prints the JSON Schema of its files', async () => {
    const { stdout, exitCode } = await new Project({}).run(['test', '--print-schema']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout())).toMatchObject({ properties: { cases: { type: 'array' } } });
  });

  it('takes a judge for rubrics, whose answer must begin with yes or no', async () => {
    const project = createEchoProject(
      '  - inputs: { text: a }\n    expect: [{ rubric: is polite }]\n',
    );
    const { exitCode, stdout } = await project.run(['test', '--judge', 'echo']);
    expect(stdout()).toMatch(
      /the judge answered neither yes nor no .*\n\s*It answered "You judge whether .*…"\./u,
    );
    expect(exitCode).toBe(EXIT.fault);
    expect((await project.run(['test', '--judge', 'nobody'])).exitCode).toBe(EXIT.usage);
  });
});
