import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { temporaryDirectory } from '../support/context.ts';

const README = readFileSync(path.resolve(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

/** The commands of the shell blocks under a heading, without their comments. */
function commandsUnder(heading: string): string[] {
  const [, section = ''] = README.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/```sh\n([\s\S]*?)```/gu)]
    .flatMap(([, block = '']) => block.split('\n'))
    .map(line => line.replace(/\s+#.*$/u, '').trim())
    .filter(line => line.startsWith('promptrun '));
}

describe('the tour of the README', () => {
  const tour = commandsUnder('The tour');

  it('has the ten lines it shows', () => {
    expect(tour).toHaveLength(10);
  });

  it('runs from its first line to its last', async () => {
    const home = temporaryDirectory();
    writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nGrace\n');
    writeFileSync(path.join(home, 'topics.csv'), 'topic\ntea\n');
    for (const line of tour) {
      const [command = ''] = line.split(' | ');
      const { code, stderr } = await runCommand(command.split(' ').slice(1), { home });
      expect({ command, code, stderr: code === 0 ? '' : stderr }).toEqual({ command, code: 0, stderr: '' });
    }
  });
});
