import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { listShellLines, readDocument, splitCommand } from '../support/documents.ts';
import { buildCommandEnvironment } from '../support/environment.ts';
import { isPosix } from '../support/system.ts';

const TEXT = readDocument('docs/moving.md');

/** A part may use what the one before it wrote. */
const PARTS = [...TEXT.matchAll(/^## ([^\n]+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gmu)].map(
  ([, title = '', text = '']) => ({ title, text }),
);

describe.runIf(isPosix)('moving here', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-moving-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const data = path.join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });

  // The provider of the examples is not asked: a built-in model stands in for it.
  writeFileSync(path.join(data, 'models.yaml'), 'modelAliases:\n  openai/gpt-6-luna: echo\n');

  const runInShell = (line: string): { code: number | null; stderr: string } => {
    const script = `promptrun() { "${process.execPath}" "${COMMAND}" "$@"; }\n${line}`;
    const env = buildCommandEnvironment(directory);
    const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: directory,
      env,
      encoding: 'utf8',
    });
    return { code: status, stderr };
  };

  it('shows every tool that a newcomer may come from', () => expect(PARTS).toHaveLength(6));

  it.each(PARTS)('$title: every file and every command works', async ({ text }) => {
    for (const [, file = '', content = ''] of text.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gmu)) {
      writeFileSync(path.join(directory, file), content);
    }

    const lines = listShellLines(text);
    expect(lines.length).toBeGreaterThan(0);

    for (const line of lines) {
      const { code, stderr } = line.startsWith('promptrun ')
        ? await runCommandHere(splitCommand(line), { home: directory })
        : runInShell(line);
      expect(stderr, line).toEqual(expect.any(String));
      expect(code, line).toBe(0);
    }
  });
});
