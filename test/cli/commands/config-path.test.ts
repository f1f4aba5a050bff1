import { expect, it } from 'vitest';
import { createMachine } from './prompts/local-machine.ts';

it('config path shows every file and directory with its contents', async () => {
  const { home, promptrun } = createMachine();
  const env = { HOME: home, XDG_CACHE_HOME: '' };
  const { stdout } = await promptrun(['config', 'path', '--json'], { env });
  const storedItems = JSON.parse(stdout) as { name: string; path: string }[];

  expect(storedItems.map(({ name }) => name)).toEqual([
    'config',
    'credentials',
    'resources',
    'prompts',
    'journal',
    'data',
    'cache',
  ]);

  for (const item of storedItems) expect(item.path.startsWith(home)).toBe(true);
});
