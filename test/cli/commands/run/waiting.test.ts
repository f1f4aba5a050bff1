import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { Run } from '../../../../src/wire/index.ts';
import { TEST_NOW, testClock } from '../../../support/context.ts';
import { failure, html, startScriptedServiceForTest } from '../../../support/scripted-service.ts';
import {
  creation,
  RUN,
  runAgainst,
  startAgainst,
  succeededRun,
  textOutput,
} from './run-against-service.ts';
import {
  createHourglass,
  creationOfRunningRun,
  HOUR_TIMEOUT,
  pollOf,
  pollOfRunningRun,
  pollOfUnknownRun,
  pollsOfQueuedRun,
  RUN_IT,
} from './scripted-runs.ts';

describe('waiting for a run', () => {
  it('polls the run to its end, through temporary faults', async () => {
    const service = await startScriptedServiceForTest(
      creationOfRunningRun,
      pollOfRunningRun,
      { expect: { path: `/runs/${RUN}` }, answer: failure(500, 'SERVER_ERROR', 'oops') },
      { expect: { path: `/runs/${RUN}` }, answer: 'reset-after-body' },
      { expect: { path: `/runs/${RUN}` }, answer: html(502) },
      {
        expect: { path: `/runs/${RUN}` },
        answer: failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down'),
      },
      pollOf({ outputs: [textOutput('done')] }),
    );
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT);
    expect({ exitCode, stdout: stdout(), stderr: stderr() }).toEqual({
      exitCode: 0,
      stdout: 'done\n',
      stderr: '',
    });
  });

  it('stops waiting on 401, with the run id in the error', async () => {
    const service = await startScriptedServiceForTest(creationOfRunningRun, {
      expect: { path: `/runs/${RUN}` },
      answer: failure(401, 'UNAUTHORIZED_ERROR', 'no'),
    });
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.unauthorised, stdout: '' });
    expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
  });

  it('continues to poll if the service does not know at first the id that it returned', async () => {
    const service = await startScriptedServiceForTest(
      creationOfRunningRun,
      { ...pollOfUnknownRun, times: 2 },
      pollOf({}),
    );
    expect((await runAgainst(service, RUN_IT)).exitCode).toBe(0);
  });

  it('gives up a run that the service does not know after a minute, and creates no other', async () => {
    const clock = testClock();
    const service = await startScriptedServiceForTest(creationOfRunningRun, {
      ...pollOfUnknownRun,
      times: 'any',
    });
    const { exitCode, stdout } = await runAgainst(service, RUN_IT, { clock });

    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.notFound, stdout: '' });
    expect(clock.now() - TEST_NOW).toBeGreaterThanOrEqual(60_000);
    expect(service.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it.each([
    [[], `${RUN}\n`],
    [['--json'], `${JSON.stringify({ runId: RUN, runStatus: 'running' }, undefined, 2)}\n`],
    [['--query', 'runId'], `${RUN}\n`],
  ])('does not wait with --no-wait, but prints the run id: %j', async (flags, printed) => {
    const service = await startScriptedServiceForTest(creationOfRunningRun);
    const { exitCode, stdout } = await runAgainst(service, [...RUN_IT, '--no-wait', ...flags]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: printed });
  });

  it('escapes control characters of a run id on a terminal', async () => {
    const runId = `${RUN}\u001b]0;x\u0007\u009b31m\u202e`;
    const service = await startScriptedServiceForTest(
      creation(succeededRun({ runId })),
      creation(succeededRun({ runId })),
    );
    for (const flags of [[], ['--json']]) {
      const { stdout } = await runAgainst(service, [...RUN_IT, '--no-wait', ...flags], {
        terminal: { stdout: true },
      });
      expect(stdout()).toContain(RUN);
      // oxlint-disable-next-line no-control-regex -- these are what must not come
      expect(stdout()).not.toMatch(/[\u001b\u0007\u009b\u202e]/u);
    }
  });

  it.each([
    ['succeeded', 0],
    ['failed', EXIT.runFailed],
    ['queued', 0],
  ] as const)(
    'prints the run id with --no-wait if the run is %s at once, and exits with %i',
    async (runStatus, expectedExitCode) => {
      const run = succeededRun({ runStatus });
      const service = await startScriptedServiceForTest(creation(run), creation(run));
      const plain = await runAgainst(service, [...RUN_IT, '--no-wait']);

      expect({ exitCode: plain.exitCode, stdout: plain.stdout() }).toEqual({
        exitCode: expectedExitCode,
        stdout: `${RUN}\n`,
      });

      const json = await runAgainst(service, [...RUN_IT, '--no-wait', '--json']);
      expect(JSON.parse(json.stdout())).toEqual({ runId: RUN, runStatus });
      expect(json.exitCode).toBe(expectedExitCode);
    },
  );

  it.each([[[]], [['--json']], [['--query', 'tokens']]])(
    'exits with 5 for a run that failed while it waited, or at once: %j',
    async flags => {
      const failed: Partial<Run> = {
        runStatus: 'failed',
        outputs: [{ type: 'error', data: 'no luck' }],
      };
      const service = await startScriptedServiceForTest(
        creationOfRunningRun,
        pollOf(failed),
        creation(succeededRun(failed)),
      );
      expect((await runAgainst(service, [...RUN_IT, ...flags])).exitCode).toBe(EXIT.runFailed);
      expect((await runAgainst(service, [...RUN_IT, ...flags])).exitCode).toBe(EXIT.runFailed);
    },
  );

  it('stops waiting after --timeout, with the run id in the error', async () => {
    const { clock, runOut } = createHourglass();
    const service = await startScriptedServiceForTest(
      creationOfRunningRun,
      pollOfRunningRun,
      pollsOfQueuedRun(runOut),
    );
    const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, ...HOUR_TIMEOUT], {
      clock,
    });

    expect({ exitCode, stdout: stdout() }).toEqual({
      exitCode: EXIT.waitTimeout,
      stdout: '',
    });
    expect(stderr()).toBe(
      `error: gave up waiting; run ${RUN} continues (WAIT_TIMEOUT)\nGet it with: promptrun runs wait ${RUN}\n`,
    );
  });

  it('prints the run id in the JSON error of a timeout', async () => {
    const { clock, runOut } = createHourglass();
    const service = await startScriptedServiceForTest(
      creationOfRunningRun,
      pollsOfQueuedRun(runOut),
    );
    const { stderr } = await runAgainst(service, [...RUN_IT, '--json', ...HOUR_TIMEOUT], { clock });
    expect(JSON.parse(stderr())).toEqual({
      status: 'WAIT_TIMEOUT',
      message: `gave up waiting; run ${RUN} continues. Get it with: promptrun runs wait ${RUN}`,
      data: { runId: RUN },
      exitCode: EXIT.waitTimeout,
    });
  });

  it('says after Ctrl-C that the run continues, and how to get it', async () => {
    const service = await startScriptedServiceForTest(creationOfRunningRun, {
      expect: { path: `/runs/${RUN}` },
      answer: () => {
        running.raise('SIGINT');
        return 'silence';
      },
    });
    const running = startAgainst(service, RUN_IT);

    expect(await running.ended).toBe(EXIT.interrupted);
    expect(running.stderr()).toBe(
      `error: interrupted; run ${RUN} continues (INTERRUPTED)\nGet it with: promptrun runs wait ${RUN}\n`,
    );
    expect(running.stdout()).toBe('');
  });
});

it.each([[[]], [['--json']], [['--no-wait']]])(
  'exits with 1 if the reader goes before the whole result is printed, and names the run: %j',
  async flags => {
    const service = await startScriptedServiceForTest(creation());
    const { exitCode, stderr } = await runAgainst(service, [...RUN_IT, ...flags], {
      // The shortest of the results is longer.
      readerTakes: 3,
    });
    expect(exitCode).toBe(EXIT.fault);
    expect(stderr()).toContain(`the result of run ${RUN} was not printed`);
  },
);
