import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import {
  type Exchange,
  failure,
  startScriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import {
  creation,
  OTHER_RUN,
  RUN,
  runAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from '../run/run-against-service.ts';

const get = (answer: Exchange['answer']): Exchange => ({
  expect: { method: 'GET', path: `/runs/${RUN}` },
  answer,
});

const endedRun = get(success(succeededRun()));
const unfinishedRun = get(success(succeededRun({ runStatus: 'running', outputs: [], tokens: 0 })));

describe('runs get', () => {
  it('prints the outputs of a run that has ended', async () => {
    const { exitCode, stdout } = await runAgainst(await startScriptedServiceForTest(endedRun), [
      'runs',
      'get',
      RUN,
    ]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
  });

  it('saves the outputs to the folder of --save', async () => {
    const home = createTemporaryDirectory();
    const args = ['runs', 'get', RUN, '--save', 'out'];
    const { exitCode, stdout } = await runAgainst(
      await startScriptedServiceForTest(endedRun),
      args,
      {
        home,
      },
    );
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
    expect(readFileSync(path.join(home, 'out', `${RUN}-1.txt`), 'utf8')).toBe('Hello, Ada!');
  });

  it('exits with 0 for a run that is still running, with and without --query', async () => {
    const service = await startScriptedServiceForTest(unfinishedRun, { ...unfinishedRun });
    const plain = await runAgainst(service, ['runs', 'get', RUN]);

    expect({ exitCode: plain.exitCode, stdout: plain.stdout() }).toEqual({
      exitCode: 0,
      stdout: '',
    });
    expect(plain.stderr()).toContain(`run ${RUN} is running`);

    const json = await runAgainst(service, ['runs', 'get', RUN, '--query', 'runStatus']);
    expect({ exitCode: json.exitCode, stdout: json.stdout() }).toEqual({
      exitCode: 0,
      stdout: 'running\n',
    });
  });

  it('exits with 5 for a failed run', async () => {
    const service = await startScriptedServiceForTest(
      get(success(succeededRun({ runStatus: 'failed', outputs: [] }))),
    );
    expect((await runAgainst(service, ['runs', 'get', RUN, '--json'])).exitCode).toBe(
      EXIT.runFailed,
    );
  });

  it('exits with 4 for a run that does not exist', async () => {
    const service = await startScriptedServiceForTest(
      get(failure(404, 'NOT_FOUND_ERROR', 'no such run')),
    );
    const { exitCode, stderr } = await runAgainst(service, ['runs', 'get', RUN, '--json']);
    expect(exitCode).toBe(EXIT.notFound);
    expect(JSON.parse(stderr())).toEqual({
      status: 'NOT_FOUND_ERROR',
      message: 'no such run',
      data: null,
      exitCode: EXIT.notFound,
    });
  });

  it('names a run that does not exist, and how to list the others', async () => {
    const service = await startScriptedServiceForTest(
      get(failure(404, 'NOT_FOUND_ERROR', 'no such run')),
    );
    const { stderr } = await runAgainst(service, ['runs', 'get', RUN]);
    expect(stderr()).toMatch(`The requested id: ${RUN}\nList your runs with: promptrun runs list`);
  });

  it.each(['../x', '..', 'a/b', '%2e%2e'])(
    'refuses the id %s, which would change the path',
    async id => {
      expect(
        (await runAgainst(await startScriptedServiceForTest(), ['runs', 'get', id])).exitCode,
      ).toBe(EXIT.usage);
    },
  );
});

describe('runs cancel', () => {
  it('cancels a run at once, even if reading it first would have to wait', async () => {
    const busy = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, {
      'retry-after': '30',
    });
    const cancelled = succeededRun({
      runStatus: 'failed',
      outputs: [{ type: 'error', data: 'cancelled' }],
    });
    const service = await startScriptedServiceForTest(get(busy), {
      expect: { method: 'POST', path: `/runs/${RUN}/cancel` },
      answer: success(cancelled),
    });
    const { exitCode, stderr } = await runAgainst(service, ['runs', 'cancel', RUN]);

    expect(stderr()).toBe(`Run ${RUN} is cancelled.\n`);
    expect(exitCode).toBe(0);
  });
});

describe('runs wait', () => {
  it('waits for a run to end and prints it as `run` does', async () => {
    const { exitCode, stdout } = await runAgainst(
      await startScriptedServiceForTest(unfinishedRun, endedRun),
      ['runs', 'wait', RUN],
    );
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
  });

  it('waits with --last for the last run of this service', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      creation(succeededRun({ runId: OTHER_RUN })),
      creation(),
      endedRun,
    );
    await runAgainst(service, ['run', VERSION], { home });
    await runAgainst(service, ['run', VERSION], { home });

    expect((await runAgainst(service, ['runs', 'wait', '--last'], { home })).exitCode).toBe(0);

    const elsewhere = await runAgainst(
      await startScriptedServiceForTest(),
      ['runs', 'wait', '--last'],
      {
        home,
      },
    );
    expect(elsewhere.exitCode).toBe(EXIT.notFound);
    expect(elsewhere.stderr()).toMatch(/^error: no run of this service/);
  });

  it('refuses the answer of another run', async () => {
    const service = await startScriptedServiceForTest({
      answer: success(succeededRun({ runId: OTHER_RUN })),
    });
    const { exitCode, stdout, stderr } = await runAgainst(service, ['runs', 'get', RUN]);
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.fault);
    expect(stderr()).toMatch(
      /not the expected run: it has the id of another run \(PROTOCOL_ERROR\)/,
    );
  });

  it('quotes the run id of a hint, so that a shell runs nothing of it', async () => {
    const hostile = {
      ...succeededRun({ runStatus: 'running', outputs: [] }),
      runId: "x;$(y)\n'z'",
    };
    const service = await startScriptedServiceForTest({ answer: success(hostile) });
    const { stderr } = await runAgainst(service, ['runs', 'get', hostile.runId], {
      env: { SHELL: '/bin/sh' },
    });
    expect(stderr()).toContain(String.raw`promptrun runs wait $'x;$(y)\012\047z\047'`);
  });

  it.each([[[]], [[RUN, '--last']], [[RUN, OTHER_RUN, '--save', '-']]])(
    'refuses %j',
    async args => {
      expect(
        (await runAgainst(await startScriptedServiceForTest(), ['runs', 'wait', ...args])).exitCode,
      ).toBe(EXIT.usage);
    },
  );
});

describe('runs save', () => {
  it('writes the outputs and prints them', async () => {
    const home = createTemporaryDirectory();
    const args = ['runs', 'save', RUN, '--to', 'out'];
    const { exitCode, stdout } = await runAgainst(
      await startScriptedServiceForTest(endedRun),
      args,
      {
        home,
      },
    );

    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
    expect(readFileSync(path.join(home, 'out', `${RUN}-1.txt`), 'utf8')).toBe('Hello, Ada!');
    expect(existsSync(path.join(home, 'out', `${RUN}.json`))).toBe(true);
  });

  it('saves nothing of a run that has not ended', async () => {
    const home = createTemporaryDirectory();
    const args = ['runs', 'save', RUN, '--to', 'out'];
    const { exitCode, stderr } = await runAgainst(
      await startScriptedServiceForTest(unfinishedRun),
      args,
      {
        home,
      },
    );

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain(`promptrun runs wait ${RUN} --save`);
    expect(existsSync(path.join(home, 'out'))).toBe(false);
  });

  const other = {
    expect: { path: `/runs/${OTHER_RUN}` },
    answer: success(
      succeededRun({ runId: OTHER_RUN, runStatus: 'failed', outputs: [textOutput('half')] }),
    ),
  };

  it('saves several runs, and exits with 5 if one of them failed', async () => {
    const home = createTemporaryDirectory();
    const args = ['runs', 'save', RUN, OTHER_RUN, RUN, '--to', 'out', '--json'];
    const { exitCode, stdout } = await runAgainst(
      await startScriptedServiceForTest(endedRun, other),
      args,
      { home },
    );

    expect(JSON.parse(stdout())).toEqual([
      {
        ...succeededRun(),
        outputs: [{ ...textOutput('Hello, Ada!'), savedTo: path.join('out', `${RUN}-1.txt`) }],
      },
      expect.objectContaining({ runId: OTHER_RUN }),
    ]);

    expect(exitCode).toBe(EXIT.runFailed);
    expect(readFileSync(path.join(home, 'out', `${OTHER_RUN}-1.txt`), 'utf8')).toBe('half');
  });

  it('saves the runs of --since that have ended, and names the others', async () => {
    const home = createTemporaryDirectory();
    const row = { runId: RUN, runStatus: 'succeeded' };
    const list: Exchange = {
      expect: { path: '/runs', query: { since: '1767319445' } },
      answer: success({ rows: [{ runId: OTHER_RUN, runStatus: 'running' }, row], hasMore: false }),
    };
    const args = ['runs', 'save', '--since', '1767319445', '--to', 'out', '--json'];
    const { exitCode, stdout, stderr } = await runAgainst(
      await startScriptedServiceForTest(list, endedRun),
      args,
      {
        home,
      },
    );

    expect(JSON.parse(stdout())).toEqual([expect.objectContaining({ runId: RUN })]);
    expect(stderr()).toBe(`note: run ${OTHER_RUN} is running and is not saved\n`);
    expect(exitCode).toBe(0);
  });

  it('writes the only output to standard output', async () => {
    const { stdout } = await runAgainst(await startScriptedServiceForTest(endedRun), [
      'runs',
      'save',
      RUN,
      '--to',
      '-',
    ]);
    expect(stdout()).toBe('Hello, Ada!');
  });

  it.each([[[]], [[RUN, '--last']], [['--last', '--since', '1h']], [['--since', 'soon']]])(
    'refuses %j',
    async args => {
      expect(
        (await runAgainst(await startScriptedServiceForTest(), ['runs', 'save', ...args])).exitCode,
      ).toBe(EXIT.usage);
    },
  );
});

describe('runs show', () => {
  const row = {
    runId: RUN,
    promptVersionId: VERSION,
    runStatus: 'succeeded',
    credits: 4,
    runName: 'Greeting',
    createdAt: '2026-01-02T03:00:00.000Z',
    outputs: [],
  };
  const list: Exchange = {
    expect: { path: '/runs', query: { limit: '50' } },
    answer: success({ rows: [row], hasMore: false }),
  };

  it('prints the run with the fields of its list row', async () => {
    const { stdout } = await runAgainst(await startScriptedServiceForTest(endedRun, list), [
      'runs',
      'show',
      RUN,
      '--json',
    ]);
    expect(JSON.parse(stdout())).toEqual({ ...row, ...succeededRun() });
  });

  it('shows values that are not texts as JSON', async () => {
    const strange = { ...row, runName: { a: '\u001b[2J' }, createdAt: 7 };
    const { exitCode, stdout } = await runAgainst(
      await startScriptedServiceForTest(endedRun, {
        ...list,
        answer: success({ rows: [strange], hasMore: false }),
      }),
      ['runs', 'show', RUN],
      { terminal: { stdout: true }, env: { NO_COLOR: '1' } },
    );

    expect(exitCode).toBe(0);
    expect(stdout()).toMatch(/^Name {6}\{"a":"(?:\^\[|\\u001b)\[2J"\}$/mu);
    expect(stdout()).toMatch(/^Created .*\(7\)$/mu);
  });

  it('prints a labelled line for each fact on a terminal', async () => {
    const long = get(
      success(
        succeededRun({
          outputs: [textOutput('x'.repeat(100)), { type: 'image', data: 'https://a/b.png' }],
        }),
      ),
    );
    const { stdout } = await runAgainst(
      await startScriptedServiceForTest(long, list),
      ['runs', 'show', RUN],
      {
        terminal: { stdout: true },
        env: { NO_COLOR: '1' },
      },
    );
    expect(stdout()).toBe(`Run       ${RUN}
Status    succeeded
Version   ${VERSION}
Name      Greeting
Created   4 minutes ago (2026-01-02T03:00:00.000Z)
Credits   4
Tokens    3
Output 1  text of 100 characters: ${'x'.repeat(60)}…
Output 2  image: https://a/b.png
`);
  });

  it('leaves out name, time and credits of a run that the list no longer has', async () => {
    const empty: Exchange = {
      expect: { path: '/runs' },
      answer: success({ rows: [], hasMore: false }),
    };
    const { stdout, exitCode } = await runAgainst(
      await startScriptedServiceForTest(endedRun, empty),
      ['runs', 'show', RUN],
    );
    expect(stdout()).toBe(
      `runId\t${RUN}\nrunStatus\tsucceeded\ntokens\t3\noutput\ttext\ttext: Hello, Ada!\n`,
    );
    expect(exitCode).toBe(0);
  });
});

describe('runs journal', () => {
  it('lists the runs started here, newest first, and marks those in doubt', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      creation(),
      { expect: { path: '/runs' }, answer: failure(422, 'VALIDATION_ERROR', 'no') },
      { expect: { path: '/runs' }, answer: 'reset-after-body' },
      { expect: { method: 'GET', path: '/runs' }, answer: success({ rows: [], hasMore: false }) },
    );
    for (let run = 0; run < 3; run += 1) {
      await runAgainst(service, ['run', VERSION, '-i', 'secret=hush'], { home });
    }

    appendFileSync(path.join(home, 'state', 'journal.jsonl'), '{"id":"torn');
    const plain = await runAgainst(service, ['runs', 'journal'], { home });
    const rows = plain
      .stdout()
      .trim()
      .split('\n')
      .map(line => line.split('\t').slice(1));

    expect(rows).toEqual([
      ['in doubt', '-', VERSION, service.baseUrl],
      ['refused', '-', VERSION, service.baseUrl],
      ['succeeded', RUN, VERSION, service.baseUrl],
    ]);

    expect(plain.stderr()).toMatch(
      /^note: left out 1 line of \S+journal.jsonl that can't be read\n/,
    );

    const json = await runAgainst(service, ['runs', 'journal', '--query', '[].inDoubt'], { home });
    expect(JSON.parse(json.stdout())).toEqual([true, false, false]);
    expect(readFileSync(path.join(home, 'state', 'journal.jsonl'), 'utf8')).not.toContain('hush');
  });

  it('prints an empty list if nothing was started', async () => {
    const { exitCode, stdout } = await runAgainst(await startScriptedServiceForTest(), [
      'runs',
      'journal',
      '--json',
    ]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: '[]\n' });
  });

  it('prints a table on a terminal', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      creation(succeededRun({ outputs: [textOutput('x')] })),
    );
    await runAgainst(service, ['run', VERSION], { home });
    const { stdout } = await runAgainst(service, ['runs', 'journal'], {
      home,
      terminal: { stdout: true },
      columns: 120,
      env: { NO_COLOR: '1' },
    });

    expect(stdout()).toMatch(/^STARTED +STATUS +RUN/);
    expect(stdout()).toContain('just now');
  });
});
