import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess, temporaryDirectory } from '../../../support/context.ts';
import { TestService } from '../../../support/local-service.ts';

const HAIKU =
  '---\ntitle: A haiku\nmodel: echo\ninput:\n  schema:\n    topic: string\n---\nOn {{topic}}.\n';

function withFiles(files: Record<string, string>) {
  const home = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  return { home, local: localService };
}

async function startedService(): Promise<TestService> {
  const started = await TestService.start();
  onTestFinished(() => started.close());
  return started;
}

it('publishes files, and says which were the latest already', async () => {
  const within = withFiles({ 'haiku.prompt': HAIKU, 'other.prompt': HAIKU });
  const first = await runInProcess(['prompts', 'publish', 'haiku.prompt', 'other.prompt'], within);

  expect(first.stdout()).toMatch(
    /^haiku\t[0-9a-f-]{36}\tA haiku\tpublished\nother\t[0-9a-f-]{36}\tA haiku\tpublished\n$/,
  );

  const second = await runInProcess(['prompts', 'publish', 'haiku.prompt', '--json'], within);
  expect(JSON.parse(second.stdout())).toEqual([
    expect.objectContaining({ slug: 'haiku', changed: false }),
  ]);
});

it('withdraws a prompt, once', async () => {
  const within = withFiles({ 'haiku.prompt': HAIKU });
  await runInProcess(['prompts', 'publish', 'haiku.prompt'], within);
  const unpublished = await runInProcess(['prompts', 'publish', '--unpublish', 'haiku'], within);

  expect(unpublished.stdout()).toBe('haiku\t\t\tunpublished\n');
  expect(unpublished.exitCode).toBe(0);

  const again = await runInProcess(['prompts', 'publish', '--unpublish', 'haiku'], within);
  expect(again.stderr()).toContain("no prompt 'haiku' is published");
  expect(again.exitCode).toBe(EXIT.notFound);
});

it('names file and line of bad front matter, and still shows what was published before it', async () => {
  const within = withFiles({ 'good.prompt': HAIKU, 'bad.prompt': '---\nmodel: [echo\n---\nx\n' });
  const { exitCode, stdout, stderr } = await runInProcess(
    ['prompts', 'publish', 'good.prompt', 'bad.prompt'],
    within,
  );
  expect(stderr()).toMatch(/^error: \S*bad\.prompt:\d+: .* \(USAGE_ERROR\)\n$/);
  expect(stdout()).toMatch(/^good\t.*published\n$/);
  expect(exitCode).toBe(EXIT.usage);
});

it('says that a file lacks the line before its front matter', async () => {
  const within = withFiles({ 'bare.prompt': HAIKU.replace('---\n', '').replaceAll('\n', '\r\n') });
  const { exitCode, stderr } = await runInProcess(['prompts', 'publish', 'bare.prompt'], within);
  expect(stderr()).toContain('note: bare.prompt lacks the line --- before its front matter');
  expect(exitCode).toBe(0);
});

it('uses the setting model for a file without a model, else says that echo answers', async () => {
  const within = withFiles({ 'bare.prompt': 'On tea.\n' });
  const bare = await runInProcess(['prompts', 'publish', 'bare.prompt'], within);

  expect(bare.stderr()).toContain(
    'note: no model named in bare.prompt: echo gives the prompt back',
  );
  expect(bare.exitCode).toBe(0);

  await runInProcess(['config', 'set', 'model', 'card'], within);
  const drawn = await runInProcess(['prompts', 'publish', 'bare.prompt'], within);

  expect([drawn.stdout(), drawn.stderr()]).toEqual([expect.stringMatching(/\tpublished\n$/), '']);
  expect((await runInProcess(['run', 'bare'], within)).stdout()).toMatch(/\.png\n$/);

  await runInProcess(['config', 'set', 'model', 'no-such-model'], within);
  const missing = await runInProcess(['prompts', 'publish', 'bare.prompt'], within);

  expect(missing.stderr()).toContain('no-such-model');
  expect(missing.exitCode).toBe(EXIT.usage);
});

it.each([
  ['the command', 'model: [echo', /^error: bad\.prompt:\d+:\d+: .+ \(USAGE_ERROR\)\n$/],
  ['the serve', 'model: nobody', /^error: bad\.prompt:3:8: the model `nobody` does not exist; /],
])('to a serve names line and column of a fault that %s finds', async (_, line, fault) => {
  const { service } = await startedService();
  const { exitCode, stderr } = await runInProcess(['prompts', 'publish', 'bad.prompt'], {
    ...withFiles({ 'bad.prompt': `---\ntitle: Bad\n${line}\n---\nx\n` }),
    env: { PROMPTRUN_BASE_URL: service.url, PROMPTRUN_API_KEY: service.sessionKey },
  });

  expect(stderr()).toMatch(fault);
  expect(exitCode).toBe(EXIT.usage);
});

it.each([
  [[], 'give prompt files'],
  [['missing.prompt'], 'missing.prompt does not exist'],
  [['notes.txt'], 'notes.txt is not a prompt file'],
])('refuses %j', async (files, what) => {
  const { exitCode, stderr } = await runInProcess(
    ['prompts', 'publish', ...files],
    withFiles({ 'notes.txt': 'x' }),
  );
  expect(stderr()).toContain(what);
  expect(exitCode).toBe(EXIT.usage);
});
