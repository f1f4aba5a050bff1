import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../../support/context.ts';
import { TestService } from '../../../support/local-service.ts';

const HAIKU =
  '---\ntitle: A haiku\nmodel: echo\ninput:\n  schema:\n    topic: string\n---\nOn {{topic}}.\n';

function createHomeWith(files: Record<string, string>) {
  const home = createTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  return { home, local: localService };
}

async function startService(): Promise<TestService> {
  const started = await TestService.start();
  onTestFinished(() => started.close());
  return started;
}

it('publishes files, and says which are unchanged', async () => {
  const options = createHomeWith({ 'haiku.prompt': HAIKU, 'other.prompt': HAIKU });
  const first = await runInProcess(['prompts', 'publish', 'haiku.prompt', 'other.prompt'], options);

  expect(first.stdout()).toMatch(
    /^haiku\t[0-9a-f-]{36}\tA haiku\tpublished\nother\t[0-9a-f-]{36}\tA haiku\tpublished\n$/,
  );

  const second = await runInProcess(['prompts', 'publish', 'haiku.prompt', '--json'], options);
  expect(JSON.parse(second.stdout())).toEqual([
    expect.objectContaining({ slug: 'haiku', changed: false }),
  ]);
});

it('unpublishes a prompt, and reports one that is not published', async () => {
  const options = createHomeWith({ 'haiku.prompt': HAIKU });
  await runInProcess(['prompts', 'publish', 'haiku.prompt'], options);
  const unpublished = await runInProcess(['prompts', 'publish', '--unpublish', 'haiku'], options);

  expect(unpublished.stdout()).toBe('haiku\t\t\tunpublished\n');
  expect(unpublished.exitCode).toBe(0);

  const again = await runInProcess(['prompts', 'publish', '--unpublish', 'haiku'], options);
  expect(again.stderr()).toContain("no prompt 'haiku' is published");
  expect(again.exitCode).toBe(EXIT.notFound);
});

it('names file and line of faulty front matter, and shows the prompts published before it', async () => {
  const options = createHomeWith({
    'good.prompt': HAIKU,
    'bad.prompt': '---\nmodel: [echo\n---\nx\n',
  });
  const { exitCode, stdout, stderr } = await runInProcess(
    ['prompts', 'publish', 'good.prompt', 'bad.prompt'],
    options,
  );
  expect(stderr()).toMatch(/^error: \S*bad\.prompt:\d+: .* \(USAGE_ERROR\)\n$/);
  expect(stdout()).toMatch(/^good\t.*published\n$/);
  expect(exitCode).toBe(EXIT.usage);
});

it('says that a file lacks the line before its front matter', async () => {
  const options = createHomeWith({
    'bare.prompt': HAIKU.replace('---\n', '').replaceAll('\n', '\r\n'),
  });
  const { exitCode, stderr } = await runInProcess(['prompts', 'publish', 'bare.prompt'], options);
  expect(stderr()).toContain('note: bare.prompt lacks the line --- before its front matter');
  expect(exitCode).toBe(0);
});

it('uses the setting model for a file without a model; without the setting, says that echo answers', async () => {
  const options = createHomeWith({ 'bare.prompt': 'On tea.\n' });
  const bare = await runInProcess(['prompts', 'publish', 'bare.prompt'], options);

  expect(bare.stderr()).toContain(
    'note: no model named in bare.prompt: echo gives the prompt back',
  );
  expect(bare.exitCode).toBe(0);

  await runInProcess(['config', 'set', 'model', 'card'], options);
  const drawn = await runInProcess(['prompts', 'publish', 'bare.prompt'], options);

  expect([drawn.stdout(), drawn.stderr()]).toEqual([expect.stringMatching(/\tpublished\n$/), '']);
  expect((await runInProcess(['run', 'bare'], options)).stdout()).toMatch(/\.png\n$/);

  await runInProcess(['config', 'set', 'model', 'no-such-model'], options);
  const missing = await runInProcess(['prompts', 'publish', 'bare.prompt'], options);

  expect(missing.stderr()).toContain('no-such-model');
  expect(missing.exitCode).toBe(EXIT.usage);
});

it.each([
  {
    name: 'the command',
    line: 'model: [echo',
    fault: /^error: bad\.prompt:\d+:\d+: .+ \(USAGE_ERROR\)\n$/,
  },
  {
    name: 'the serve',
    line: 'model: nobody',
    fault: /^error: bad\.prompt:3:8: the model `nobody` does not exist; /,
  },
])('names line and column of a fault that $name finds', async ({ line, fault }) => {
  const { service } = await startService();
  const { exitCode, stderr } = await runInProcess(['prompts', 'publish', 'bad.prompt'], {
    ...createHomeWith({ 'bad.prompt': `---\ntitle: Bad\n${line}\n---\nx\n` }),
    env: { PROMPTRUN_BASE_URL: service.url, PROMPTRUN_API_KEY: service.sessionKey },
  });

  expect(stderr()).toMatch(fault);
  expect(exitCode).toBe(EXIT.usage);
});

it.each([
  [[], 'give prompt files'],
  [['missing.prompt'], 'missing.prompt does not exist'],
  [['notes.txt'], 'notes.txt is not a prompt file'],
])('refuses %j', async (files, message) => {
  const { exitCode, stderr } = await runInProcess(
    ['prompts', 'publish', ...files],
    createHomeWith({ 'notes.txt': 'x' }),
  );
  expect(stderr()).toContain(message);
  expect(exitCode).toBe(EXIT.usage);
});
