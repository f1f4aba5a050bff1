import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';

it('a prompt that makes a video is found by its slug, and its file can be saved', async () => {
  const home = createTemporaryDirectory();
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'movie.prompt'), '---\nmodel: clip\n---\nHarbour at {{time}}');

  expect(await runCommandHere(['prompts', 'publish', 'movie.prompt'], { home })).toMatchObject({
    code: 0,
  });

  const { code, stdout } = await runCommand(['run', 'movie', '-i', 'time=dusk', '--save', 'out'], {
    home,
  });
  expect(code).toBe(0);

  const [file = ''] = readdirSync(path.join(home, 'out')).filter(name => name.endsWith('.mp4'));
  expect(stdout.trim()).toBe(path.join('out', file));
  expect(readFileSync(path.join(home, 'out', file)).toString('latin1', 4, 8)).toBe('ftyp');
});
