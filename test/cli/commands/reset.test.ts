import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createMachine } from './prompts/local-machine.ts';

describe('reset', () => {
  it('needs --yes if it is not on a terminal', async () => {
    const { home, promptrun } = createMachine();
    mkdirSync(path.join(home, 'config'));
    writeFileSync(path.join(home, 'config', 'prompts.json'), '{}');
    expect((await promptrun(['reset', 'caches'])).exitCode).toBe(EXIT.usage);
    expect(existsSync(path.join(home, 'config', 'prompts.json'))).toBe(true);
    expect((await promptrun(['reset', 'caches', '--yes'])).exitCode).toBe(0);
    expect(existsSync(path.join(home, 'config', 'prompts.json'))).toBe(false);
  });

  it('removes settings, damaged credentials and the journal, but nothing of the local service', async () => {
    const { home, promptrun } = createMachine();
    await promptrun(['run', 'hello', '-i', 'name=Ada']);
    await promptrun(['alias', 'set', 'h', 'hello']);
    writeFileSync(path.join(home, 'config', 'credentials.json'), '{damaged');
    const { stdout } = await promptrun(['reset', 'all', '--yes', '--json']);

    expect(
      (JSON.parse(stdout) as { removed: string[] }).removed.map(file => path.basename(file)).sort(),
    ).toEqual(['config.json', 'credentials.json', 'journal.jsonl']);
    expect((await promptrun(['runs', 'journal'])).stdout).toBe('');
    expect((await promptrun(['runs', 'list', '--query', 'length(@)'])).stdout).toBe('1\n');
  });

  it('refuses a part that does not exist', async () => {
    expect((await createMachine().promptrun(['reset', 'cache'])).stderr).toContain(
      'did you mean caches?',
    );
  });
});
