import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { runInProcess } from '../../support/context.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import { FAILING, PASSING } from './greeting-cases.ts';

describe('test --failed', () => {
  it('runs only the case that failed last', async () => {
    const project = createEchoProject(PASSING + FAILING);
    await project.run(['test']);
    const { stdout } = await project.run(['test', '--failed']);
    expect(stdout()).toContain('0 passed, 1 failed');
  });

  it('passes once the case that failed is corrected', async () => {
    const project = createEchoProject(PASSING + FAILING);
    await project.run(['test']);
    project.write('echo.test.yaml', `cases:\n${PASSING}${FAILING.replace('hei', 'hello')}`);
    const { exitCode, stdout } = await project.run(['test', '--failed']);
    expect(stdout()).toContain('1 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  it('is refused if nothing was run', async () => {
    const project = createEchoProject(PASSING + FAILING);
    const { exitCode, stderr } = await project.run(['test', '--failed']);
    expect(stderr()).toContain('Leave out --failed');
    expect(exitCode).toBe(EXIT.notFound);
  });

  it('runs nothing, and reports no cases, if none failed', async () => {
    const project = createEchoProject(PASSING);
    await project.run(['test']);
    const argv = ['test', '--failed', '--reporter', 'json', '--out', 'report.json'];
    const { exitCode, stderr } = await runInProcess(argv, {
      home: project.home,
      local: localService,
    });

    expect(stderr()).toBe('note: no case failed when it was last run; 1 case passed\n');
    expect(exitCode).toBe(0);

    const report: unknown = JSON.parse(
      readFileSync(path.join(project.home, 'report.json'), 'utf8'),
    );
    expect(report).toMatchObject({ passed: 0, failed: 0, cases: [] });
  });

  it('remembers failures with --replay separately, and says so', async () => {
    const project = createEchoProject(PASSING);
    await project.run(['test', '--record', 'rec']);
    project.write('echo.test.yaml', `cases:\n${PASSING.replace('equals: hello', 'equals: hullo')}`);

    expect((await project.run(['test', '--replay', 'rec'])).exitCode).toBe(EXIT.runFailed);

    const live = { home: project.home, local: localService };
    const { exitCode, stderr } = await runInProcess(['test', '--failed'], live);

    expect(exitCode).toBe(0);
    expect(stderr()).toContain(
      'note: 1 case failed with --replay, which is remembered apart: to run only those, add --replay <dir>\n',
    );
    expect((await project.run(['test', '--failed', '--replay', 'rec'])).exitCode).toBe(
      EXIT.runFailed,
    );
  });

  it('knows which cases of each file failed, whichever files were tested since', async () => {
    const project = createEchoProject(PASSING + FAILING);
    project.write('other.prompt', ECHO);
    project.write('other.test.yaml', `cases:\n${FAILING}`);
    await project.run(['test']);
    const failedOfOne = await project.run(['test', 'echo.test.yaml', '--failed']);

    expect(failedOfOne.stdout()).toContain('0 passed, 1 failed');

    project.write('echo.prompt', ECHO.replace('{{text}}', 'hei'));
    await project.run(['test', 'echo.test.yaml', '--filter', 'norwegian']);
    const failedOfAll = await project.run(['test', '--failed']);

    expect(failedOfAll.stdout()).toContain('FAILED other.test.yaml: greets in Norwegian');
    expect(failedOfAll.stdout()).toContain('0 passed, 1 failed');
  });

  it('works even if the file of its verdicts is too long and has unreadable lines', async () => {
    const project = createEchoProject(PASSING + FAILING);
    // More lines than it keeps, some that are not verdicts, and one that is torn.
    const oldLines = Array.from({ length: 45_000 }, (_, index) =>
      JSON.stringify({ ids: [`${index}`.padStart(64, '0')], verdict: 'failed' }),
    );
    project.write(
      'state/tests/verdicts.jsonl',
      `{"ids":7}\nno JSON\n${oldLines.join('\n')}\n{"ids":["torn`,
    );
    await project.run(['test']);

    expect(statSync(path.join(project.home, 'state/tests/verdicts.jsonl')).size).toBeLessThan(
      3_000_000,
    );
    expect((await project.run(['test', '--failed'])).stdout()).toContain('0 passed, 1 failed');
  });

  describe('of a file in which a case has a rubric', () => {
    const JUDGED = '  - { name: judged, inputs: { text: hi }, expect: [{ rubric: is polite }] }\n';

    it('needs no judge if that case did not fail', async () => {
      const project = createEchoProject(FAILING + JUDGED);
      await project.run(['test', '--filter', 'norwegian']);
      const { stdout, exitCode, stderr } = await project.run(['test', '--failed']);
      expect(stdout(), stderr()).toContain('0 passed, 1 failed');
      expect(exitCode, stderr()).toBe(EXIT.runFailed);
    });

    it('forecasts only the cases that failed', async () => {
      const project = createEchoProject(FAILING + JUDGED);
      await project.run(['test', '--filter', 'norwegian']);
      const { stdout } = await project.run(['test', '--failed', '--dry-run', '--json']);
      expect(JSON.parse(stdout())).toMatchObject({ cases: 1, creations: 1 });
    });

    it('needs a judge if that case failed', async () => {
      const project = createEchoProject(FAILING + JUDGED);

      // The model `echo` does not answer the judge's question, so the judged case fails.
      await project.run(['test', '--judge', 'echo']);
      const { exitCode, stderr } = await project.run(['test', '--failed']);
      expect(stderr()).toMatch(/echo\.test\.yaml:\d+: a rubric needs a judge/u);
      expect(exitCode).toBe(EXIT.usage);
    });
  });

  it('knows which cases failed, even after the prompt or a case was edited', async () => {
    const project = createEchoProject(PASSING + FAILING);
    await project.run(['test']);
    project.write('echo.prompt', ECHO.replace('{{text}}', 'hei'));
    const { stdout } = await project.run(['test', '--failed']);
    expect(stdout()).toContain('1 passed, 0 failed');
  });

  it('knows which cases without names failed, even after one was added before them', async () => {
    const formatCase = (text: string, expected = text): string =>
      `  - { inputs: { text: ${text} }, expect: [{ equals: ${expected} }] }\n`;
    const casesBefore = formatCase('a') + formatCase('b', 'x') + formatCase('c');
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `cases:
${casesBefore}`,
    });
    await project.run(['test']);
    project.write('echo.test.yaml', `cases:\n${formatCase('new')}${casesBefore}`);
    const { stdout } = await project.run(['test', '--failed']);

    expect(stdout()).toContain('FAILED echo.test.yaml: case 3');
    expect(stdout()).toContain('0 passed, 1 failed');
  });

  it('never takes the verdict on one of two equal cases for that on the other', async () => {
    const [passing, failing] = ['hello', 'hei'].map(
      answer => `
  - inputs: { text: hello }
    expect: [{ equals: ${answer} }]
`,
    );
    const project = createEchoProject(`${passing}${failing}`);
    expect((await project.run(['test', '--filter', 'case 2'])).exitCode).toBe(EXIT.runFailed);
    expect((await project.run(['test', '--failed', '--filter', 'case 1'])).exitCode).toBe(
      EXIT.notFound,
    );
  });

  it('distinguishes equal cases if --filter leaves some of them out', async () => {
    const project = createEchoProject(PASSING + FAILING);
    const findNorwegianRunId = async (...flags: string[]): Promise<string | undefined> => {
      const { stdout } = await project.run(['test', ...flags, '--json']);
      const { cases } = JSON.parse(stdout()) as {
        cases: { name: string; repetitions: { runId: string }[] }[];
      };
      return cases.find(({ name }) => name === 'greets in Norwegian')?.repetitions[0]?.runId;
    };

    const runId = await findNorwegianRunId();
    expect(await findNorwegianRunId('--resume', '--filter', 'norwegian')).toBe(runId);
    expect((await project.run(['test', '--failed', '--filter', 'norwegian'])).exitCode).toBe(
      EXIT.runFailed,
    );
  });
});
