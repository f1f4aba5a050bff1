import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { localService } from '../../../src/main.ts';
import { runInProcess, temporaryDirectory } from '../../support/context.ts';
import { against } from '../../support/one-command.ts';
import { type Exchange, failure, success } from '../../support/scripted-service.ts';

const PROMPT = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';
const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const OLDER = '0b0c9999-4f0e-4c39-9b8e-7d0a2c7f1a55';
const RUN = '5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const OTHER_RUN = '5f0c8f99-4f0e-4c39-9b8e-7d0a2c7f1a55';

const found = { promptId: PROMPT, promptVersionId: VERSION, title: 'Haiku', slug: 'haiku' };
const prompt = {
  promptId: PROMPT,
  promptVersionId: VERSION,
  title: 'Haiku',
  publishedAt: '2026-01-01T00:00:00Z',
  config: {},
};
const missing = failure(404, 'NOT_FOUND_ERROR', 'not here');

function answering(path: string, data: unknown): Exchange {
  return { expect: { path }, answer: success(data) };
}

const search = answering('/prompts/publish', { rows: [found] });
const versions = answering(`/prompts/${PROMPT}/versions`, {
  promptId: PROMPT,
  title: 'Haiku',
  versions: [{ promptVersionId: VERSION }, { promptVersionId: OLDER }],
});
const ofVersion = (versionId: string, data: object): Exchange => ({
  expect: { path: `/prompts/${PROMPT}`, query: { versionId } },
  answer: success(data),
});

describe('a prompt', () => {
  it('is found by its slug', async () => {
    const script = [search, answering(`/prompts/${PROMPT}`, prompt)];
    const { stdout, exitCode } = await against(script, ['prompts', 'get', 'haiku', '--query', 'title']);
    expect([stdout, exitCode]).toEqual(['Haiku\n', 0]);
  });

  it('is found in one version by the beginning of its id', async () => {
    const script = [search, versions, ofVersion(OLDER, { ...prompt, promptVersionId: OLDER })];
    const { stdout } = await against(script, [
      'prompts',
      'get',
      'haiku@0b0c99',
      '--query',
      'promptVersionId',
    ]);
    expect(stdout).toBe(`${OLDER}\n`);
  });

  it.each([
    ['haiku@ffff', 4, /^error: haiku has no version that begins with "ffff"/],
    ['haiku@', 4, /^error: haiku has no version that begins with ""/],
    ['haiku@0b0c', 2, /^error: several versions of haiku begin with 0b0c/],
  ])('%s is refused', async (name, code, message) => {
    const { stderr, exitCode } = await against([search, versions], ['run', name]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(code);
  });

  it('is run in one version', async () => {
    const creation: Exchange = {
      expect: { method: 'POST', path: '/runs', body: { promptVersionId: OLDER, inputs: {} } },
      answer: success({ runId: RUN, runStatus: 'succeeded', outputs: [], tokens: 0 }),
    };
    const { exitCode } = await against([search, versions, creation], ['run', 'haiku@0b0c99']);
    expect(exitCode).toBe(0);
  });

  it('may be the id of a version, whose prompt is looked up', async () => {
    const script = [
      { expect: { path: `/prompts/${VERSION}/versions` }, answer: missing },
      answering(`/prompt-versions/${VERSION}`, prompt),
      versions,
    ];
    const { stdout } = await against(script, ['versions', 'list', VERSION, '--query', '[].promptVersionId']);
    expect(JSON.parse(stdout)).toEqual([VERSION, OLDER]);
  });

  it('may be a file, which is published first', async () => {
    const home = temporaryDirectory();
    writeFileSync(path.join(home, 'tea.prompt'), '---\ntitle: On tea\nmodel: echo\n---\nTea.\n');
    const { stdout } = await runInProcess(['prompts', 'get', 'tea.prompt', '--query', 'title'], {
      home,
      local: localService,
    });
    expect(stdout()).toBe('On tea\n');
  });
});

describe('what belongs to the service of this machine', () => {
  it.each([
    [['prompts', 'publish', 'x.prompt']],
    [['keys', 'create']],
    [['keys', 'list']],
    [['keys', 'revoke', 'x']],
    [['run', 'x.prompt']],
    [['prompts', 'get', 'x.prompt']],
  ])('%j is refused where another one is configured, and names the way out', async argv => {
    const home = temporaryDirectory();
    writeFileSync(path.join(home, 'x.prompt'), '---\nmodel: echo\n---\nTea.\n');
    const { stderr, stdout, exitCode } = await against([], argv, { home, local: localService });
    expect(stderr).toMatch(
      /^error: .* this machine's own service, but http.* is configured by PROMPTRUN_BASE_URL/,
    );
    expect(stderr).toContain('--profile local');
    expect([stdout, exitCode]).toEqual(['', 2]);
    const there = await against([], ['prompts', 'publish', 'x.prompt', '--profile', 'local'], {
      home,
      local: localService,
    });
    expect(there.exitCode).toBe(0);
  });
});

it.each([
  ['run x.prompt'],
  ['prompts get x.prompt'],
  ['versions list x.prompt'],
  ['versions get x.prompt'],
  ['versions diff x.prompt'],
  ['batch x.prompt --from rows.csv --out out.jsonl'],
  ['compare x.prompt hello --from rows.csv'],
  ['test'],
])('%s refuses a prompt file elsewhere even where no key is known', async command => {
  const home = temporaryDirectory();
  writeFileSync(path.join(home, 'x.prompt'), '---\nmodel: echo\n---\nTea.\n');
  writeFileSync(path.join(home, 'x.test.yaml'), 'cases:\n  - name: tea\n    expect: [{ contains: Tea }]\n');
  writeFileSync(path.join(home, 'rows.csv'), 'id\n1\n');
  const argv = [...command.split(' '), '--base-url', 'https://prompts.example/v1'];
  const { exitCode, stderr } = await runInProcess(argv, { home, local: localService });
  expect([exitCode, stderr()]).toEqual([2, expect.stringContaining('--profile local')]);
});

describe('a run', () => {
  const run = { runId: RUN, runStatus: 'succeeded', outputs: [{ type: 'text', data: 'hi' }], tokens: 1 };
  const list = answering('/runs', { rows: [run, { ...run, runId: OTHER_RUN }], hasMore: false });

  it('is found by a beginning of its id that no other of the newest has', async () => {
    const { stdout } = await against([list, answering(`/runs/${RUN}`, run)], ['runs', 'get', '5f0c8f0']);
    expect(stdout).toBe('hi\n');
  });

  it.each([
    ['5f0c8f', 2, /^error: several runs begin with 5f0c8f \(USAGE_ERROR\)\nGive more of the id: 5f0c8f0e-/],
    ['aaaaaa', 4, /^error: no run begins with aaaaaa /],
  ])('%s is refused', async (name, code, message) => {
    const { stderr, exitCode } = await against([list], ['runs', 'get', name]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(code);
  });

  it('is not looked for by less than six characters', async () => {
    expect((await against([], ['runs', 'get', '5f0c8'])).exitCode).toBe(2);
  });
});
