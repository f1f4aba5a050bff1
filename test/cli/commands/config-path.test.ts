import { expect, it } from 'vitest';
import { machine } from './prompts/local-machine.ts';

it('config path shows every file and directory with its contents', async () => {
  const { home, promptrun } = machine();
  const env = { HOME: home, XDG_CACHE_HOME: '' };
  const { stdout } = await promptrun(['config', 'path', '--json'], { env });
  const places = JSON.parse(stdout) as { name: string; path: string }[];

  expect(places.map(({ name }) => name)).toEqual([
    'config',
    'credentials',
    'resources',
    'prompts',
    'journal',
    'data',
    'cache',
  ]);

  for (const place of places) expect(place.path.startsWith(home)).toBe(true);
});
