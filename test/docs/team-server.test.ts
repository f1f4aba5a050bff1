import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand, startCommand } from '../support/command.ts';
import { temporaryDirectory } from '../support/context.ts';
import { documentText, shellLines, wordsOf } from '../support/documents.ts';

const GUIDE =
  documentText('docs/serve.md').split("\n## Ten minutes to a team's server\n")[1]?.split('\n## ')[0] ?? '';
const IN_CONTAINER = 'docker compose -f deploy/compose.yaml exec one ';

it('leads two people, one an author, to a server that they share', async () => {
  const server = temporaryDirectory();
  const serving = startCommand(['serve', '--port', '0'], { home: server });
  onTestFinished(() => void serving.child.kill());
  const [, url = ''] = await serving.untilStdout(/^listening on (\S+)\/v1$/m);
  const lines = shellLines(GUIDE);

  const keys: string[] = [];
  for (const line of lines.filter(line => line.startsWith(IN_CONTAINER))) {
    const { code, stdout } = await runCommand(wordsOf(line.slice(IN_CONTAINER.length)), { home: server });
    expect([line, code]).toEqual([line, 0]);
    keys.push(...(/^pr_\S+/.exec(stdout) ?? []));
  }
  expect(keys).toHaveLength(2);

  const own = lines.filter(line => line.startsWith('promptrun '));
  const homes = keys.map(() => temporaryDirectory());
  writeFileSync(path.join(homes[0] ?? '', 'haiku.prompt'), '---\nmodel: echo\n---\nOn {{topic}}.\n');
  let person = -1;
  let printed = '';
  for (const line of own) {
    const words = wordsOf(line).map(word => word.replace('https://prompts.example.com', url));
    if (words[0] === 'login') person += 1;
    const stdin = words[0] === 'login' ? `${keys[person]}\n` : '';
    const outcome = await runCommand(words, { home: homes[person] ?? '', stdin });
    expect([line, outcome.code, outcome.stderr]).toEqual([line, 0, expect.any(String)]);
    printed = outcome.stdout;
  }
  expect(person).toBe(1);
  expect(printed).toBe('On rain.\n');

  const refused = ['prompts', 'publish', path.join(homes[0] ?? '', 'haiku.prompt'), '--profile', 'team'];
  expect(await runCommand(refused, { home: homes[1] ?? '' })).toMatchObject({ code: 3 });
});
