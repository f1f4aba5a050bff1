import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/context.ts';
import { type Exchange, failure, success } from '../../support/scripted-service.ts';
import { command, creation, OTHER_RUN, RUN, runOf, serviceOf, text, VERSION } from './run-support.ts';

const get = (answer: Exchange['answer']): Exchange => ({
  expect: { method: 'GET', path: `/runs/${RUN}` },
  answer,
});
const found = get(success(runOf()));
const going = get(success(runOf({ runStatus: 'running', outputs: [], tokens: 0 })));

describe('runs get', () => {
  it('gives the outputs of a run that has ended', async () => {
    const { exitCode, stdout } = await command(await serviceOf(found), ['runs', 'get', RUN]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
  });

  it('saves them where it is told to', async () => {
    const home = temporaryDirectory();
    const args = ['runs', 'get', RUN, '--save', 'out'];
    const { exitCode, stdout } = await command(await serviceOf(found), args, { home });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
    expect(readFileSync(path.join(home, 'out', `${RUN}-1.txt`), 'utf8')).toBe('Hello, Ada!');
  });

  it('is a success for one that still runs, in every form', async () => {
    const service = await serviceOf(going, { ...going });
    const plain = await command(service, ['runs', 'get', RUN]);
    expect({ exitCode: plain.exitCode, stdout: plain.stdout() }).toEqual({ exitCode: 0, stdout: '' });
    expect(plain.stderr()).toContain(`run ${RUN} is running`);
    const json = await command(service, ['runs', 'get', RUN, '--query', 'runStatus']);
    expect({ exitCode: json.exitCode, stdout: json.stdout() }).toEqual({ exitCode: 0, stdout: 'running\n' });
  });

  it('ends in 5 for one that failed', async () => {
    const service = await serviceOf(get(success(runOf({ runStatus: 'failed', outputs: [] }))));
    expect((await command(service, ['runs', 'get', RUN, '--json'])).exitCode).toBe(5);
  });

  it('ends in 4 for one that is not there', async () => {
    const service = await serviceOf(get(failure(404, 'NOT_FOUND_ERROR', 'no such run')));
    const { exitCode, stderr } = await command(service, ['runs', 'get', RUN, '--json']);
    expect(exitCode).toBe(4);
    expect(JSON.parse(stderr())).toEqual({
      status: 'NOT_FOUND_ERROR',
      message: 'no such run',
      data: null,
      exitCode: 4,
    });
  });

  it.each(['../x', '..', 'a/b', '%2e%2e'])('refuses %s, which would lead elsewhere', async id => {
    expect((await command(await serviceOf(), ['runs', 'get', id])).exitCode).toBe(2);
  });
});

describe('runs wait', () => {
  it('waits for a run to end and gives it as `run` does', async () => {
    const { exitCode, stdout } = await command(await serviceOf(going, found), ['runs', 'wait', RUN]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
  });

  it('--last takes the last run of this service', async () => {
    const home = temporaryDirectory();
    const service = await serviceOf(creation(runOf({ runId: OTHER_RUN })), creation(), found);
    await command(service, ['run', VERSION], { home });
    await command(service, ['run', VERSION], { home });
    expect((await command(service, ['runs', 'wait', '--last'], { home })).exitCode).toBe(0);
    const elsewhere = await command(await serviceOf(), ['runs', 'wait', '--last'], { home });
    expect(elsewhere.exitCode).toBe(4);
    expect(elsewhere.stderr()).toMatch(/^error: no run of this service/);
  });

  it('names a run so that a shell runs nothing of it', async () => {
    const hostile = { ...runOf({ runStatus: 'running', outputs: [] }), runId: "x;$(y)\n'z'" };
    const service = await serviceOf({ answer: success(hostile) });
    const { stderr } = await command(service, ['runs', 'get', RUN]);
    expect(stderr()).toContain(String.raw`promptrun runs wait $'x;$(y)\012\047z\047'`);
  });

  it.each([[[]], [[RUN, '--last']]])('refuses %j', async args => {
    expect((await command(await serviceOf(), ['runs', 'wait', ...args])).exitCode).toBe(2);
  });
});

describe('runs save', () => {
  it('writes the outputs and gives them', async () => {
    const home = temporaryDirectory();
    const { exitCode, stdout } = await command(await serviceOf(found), ['runs', 'save', RUN, 'out'], {
      home,
    });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
    expect(readFileSync(path.join(home, 'out', `${RUN}-1.txt`), 'utf8')).toBe('Hello, Ada!');
    expect(existsSync(path.join(home, 'out', `${RUN}.json`))).toBe(true);
  });

  it('has nothing to save of a run that goes on', async () => {
    const home = temporaryDirectory();
    const { exitCode, stderr } = await command(await serviceOf(going), ['runs', 'save', RUN, 'out'], {
      home,
    });
    expect(exitCode).toBe(2);
    expect(stderr()).toContain(`promptrun runs wait ${RUN} --save`);
    expect(existsSync(path.join(home, 'out'))).toBe(false);
  });
});

describe('runs journal', () => {
  it('shows what was started, newest first, with what is in doubt', async () => {
    const home = temporaryDirectory();
    const service = await serviceOf(
      creation(),
      { expect: { path: '/runs' }, answer: failure(422, 'VALIDATION_ERROR', 'no') },
      { expect: { path: '/runs' }, answer: 'reset-after-body' },
      { expect: { method: 'GET', path: '/runs' }, answer: success({ rows: [], hasMore: false }) },
    );
    for (let run = 0; run < 3; run += 1)
      await command(service, ['run', VERSION, '-i', 'secret=hush'], { home });
    appendFileSync(path.join(home, 'state', 'journal.jsonl'), '{"id":"torn');
    const plain = await command(service, ['runs', 'journal'], { home });
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
    expect(plain.stderr()).toMatch(/^note: 1 line of \S+journal.jsonl can't be read/);
    const json = await command(service, ['runs', 'journal', '--query', '[].inDoubt'], { home });
    expect(JSON.parse(json.stdout())).toEqual([true, false, false]);
    expect(readFileSync(path.join(home, 'state', 'journal.jsonl'), 'utf8')).not.toContain('hush');
  });

  it('is an empty success where nothing was started', async () => {
    const { exitCode, stdout } = await command(await serviceOf(), ['runs', 'journal', '--json']);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: '[]\n' });
  });

  it('is a table on a terminal', async () => {
    const home = temporaryDirectory();
    const service = await serviceOf(creation(runOf({ outputs: [text('x')] })));
    await command(service, ['run', VERSION], { home });
    const { stdout } = await command(service, ['runs', 'journal'], {
      home,
      terminal: { stdout: true },
      columns: 120,
      env: { NO_COLOR: '1' },
    });
    expect(stdout()).toMatch(/^STARTED +STATUS +RUN/);
    expect(stdout()).toContain('just now');
  });
});
