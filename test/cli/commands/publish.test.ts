import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { localService } from '../../../src/main.ts';
import { runInProcess, temporaryDirectory } from '../../support/context.ts';

const HAIKU = '---\ntitle: A haiku\nmodel: echo\ninput:\n  schema:\n    topic: string\n---\nOn {{topic}}.\n';

function withFiles(files: Record<string, string>) {
  const home = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  return { home, local: localService };
}

it('publishes files, and says which were the latest already', async () => {
  const within = withFiles({ 'haiku.prompt': HAIKU, 'other.prompt': HAIKU });
  const first = await runInProcess(['prompts', 'publish', 'haiku.prompt', 'other.prompt'], within);
  expect(first.stdout()).toMatch(
    /^haiku\t[0-9a-f-]{36}\tA haiku\tpublished\nother\t[0-9a-f-]{36}\tA haiku\tpublished\n$/,
  );
  const second = await runInProcess(['prompts', 'publish', 'haiku.prompt', '--json'], within);
  expect(JSON.parse(second.stdout())).toEqual([expect.objectContaining({ slug: 'haiku', changed: false })]);
});

it('withdraws a prompt, once', async () => {
  const within = withFiles({ 'haiku.prompt': HAIKU });
  await runInProcess(['prompts', 'publish', 'haiku.prompt'], within);
  const done = await runInProcess(['prompts', 'publish', '--unpublish', 'haiku'], within);
  expect([done.exitCode, done.stdout()]).toEqual([0, 'haiku\t\t\tunpublished\n']);
  const again = await runInProcess(['prompts', 'publish', '--unpublish', 'haiku'], within);
  expect([again.exitCode, again.stderr()]).toEqual([
    4,
    expect.stringContaining("no prompt 'haiku' is published"),
  ]);
});

it('names file and line of bad front matter, and still shows what was published before it', async () => {
  const within = withFiles({ 'good.prompt': HAIKU, 'bad.prompt': '---\nmodel: [echo\n---\nx\n' });
  const { exitCode, stdout, stderr } = await runInProcess(
    ['prompts', 'publish', 'good.prompt', 'bad.prompt'],
    within,
  );
  expect(stderr()).toMatch(/^error: \S*bad\.prompt:\d+: .* \(USAGE_ERROR\)\n$/);
  expect([exitCode, stdout()]).toEqual([2, expect.stringMatching(/^good\t.*published\n$/)]);
});

it.each([
  [[], 'give prompt files'],
  [['missing.prompt'], 'there is no file missing.prompt'],
  [['notes.txt'], 'notes.txt is not a prompt file'],
])('refuses %j', async (files, what) => {
  const { exitCode, stderr } = await runInProcess(
    ['prompts', 'publish', ...files],
    withFiles({ 'notes.txt': 'x' }),
  );
  expect([exitCode, stderr()]).toEqual([2, expect.stringContaining(what)]);
});
