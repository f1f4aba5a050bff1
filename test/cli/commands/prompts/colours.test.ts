import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMachine, SUM } from './local-machine.ts';

describe('on a terminal with colours', () => {
  const options = { terminal: { stdout: true }, env: { FORCE_COLOR: '1', PAGER: 'cat' } };

  it('prompts check colours the word fault', async () => {
    const { promptrun } = createMachine({ 'a.prompt': '---\nmodel: echo\n---\n{{a\n' });
    const { stdout } = await promptrun(['prompts', 'check', 'a.prompt'], options);
    expect(stdout).toBe('a.prompt:4:1: \u001b[31mfault:\u001b[39m this tag is never closed\n');
  });

  it('versions diff colours the lines that differ', async () => {
    const { home, promptrun } = createMachine({ 'sum.prompt': SUM });
    await promptrun(['prompts', 'publish', 'sum.prompt']);
    writeFileSync(path.join(home, 'sum.prompt'), SUM.replace('{{who}}', 'you'));
    const { stdout } = await promptrun(['versions', 'diff', 'sum.prompt'], options);
    expect(stdout).toContain('\u001b[31m- {{count}} for {{who}}\u001b[39m\n');
  });
});
