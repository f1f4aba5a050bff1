import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/context.ts';
import { onTerminal, serviceWithPrompt, slowCreation, VERSION_ID } from '../support/terminal-command.ts';

/** The emulated terminal breaks lines anew as the one in VS Code does: all but the line with the cursor. */
const EMULATED = { TERM_PROGRAM: 'vscode' };
const SIZES = [
  [60, 20],
  [30, 14],
  [120, 40],
  [45, 10],
  [80, 24],
] as const;

/** A line as a question breaks it. */
function broken(line: string, columns: number): string[] {
  const parts = line === '' ? [''] : [];
  for (let at = 0; at < line.length; at += columns) parts.push(line.slice(at, at + columns).trimEnd());
  return parts;
}

describe('a question on a terminal that changes its size', () => {
  it('draws a list for each size, and leaves nothing of the one before', async () => {
    const options = Array.from({ length: 14 }, (_, at) => `${at + 1}. a mood that takes many words to tell`);
    const { env } = await serviceWithPrompt({ variables: { mood: { type: 2, options } } });
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, ...EMULATED } });
    await terminal.waitFor('❯ 1. a mood');
    for (const [columns, rows] of SIZES) {
      await terminal.resize(columns, rows);
      const page = options.slice(0, Math.max(3, Math.min(10, rows - 8)));
      const names = page.map(name => (name.length > columns - 5 ? `${name.slice(0, columns - 6)}…` : name));
      await terminal.waitForScreen(
        '? mood ›',
        ...names.map((name, at) => `${at === 0 ? '❯' : ' '} ${name}`),
        '',
        ...broken('  ↑↓ move · type to filter · enter choose', columns),
      );
    }
    terminal.press('enter');
    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toMatch(/^✔ mood 1\. a mood .* tell\nTo repeat it: [^✔?]*\nThe end\.$/u);
  });

  it('keeps what is typed', async () => {
    const { env, sentInputs } = await serviceWithPrompt({ textInputs: { topic: 'string' } });
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, ...EMULATED } });
    const typed = 'the quick brown fox jumps over the lazy dog and it runs away';
    await terminal.waitFor('? topic');
    terminal.type(typed);
    await terminal.waitFor(`? topic ${typed}`);
    for (const [columns, rows] of SIZES) {
      await terminal.resize(columns, rows);
      await terminal.waitForScreen(
        ...broken(`? topic ${typed}`, columns),
        ...broken('  ctrl+o editor, for several lines', columns),
      );
    }
    terminal.type('!\r');
    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toMatch(/^✔ topic the quick .* away!\nTo repeat it: [^\n]*\nThe end\.$/u);
    expect(sentInputs()).toEqual({ textInputs: { topic: `${typed}!` } });
  });

  it('leaves nothing of several choices, nor of a question that is left', async () => {
    const options = ['one of many words, for a start', 'another of just as many'];
    const { env } = await serviceWithPrompt({
      variables: { tags: { type: 2, description: 'Which of them', options, multiple: { max: 2 } } },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, ...EMULATED } });
    await terminal.waitFor('◯ another');
    const before = terminal.screen();
    await terminal.resize(29, 20);
    await terminal.waitForScreen(...before.split('\n').flatMap(line => broken(line, 29)));
    await terminal.resize(80, 24);
    await terminal.waitForScreen(...before.split('\n'));
    await terminal.resize(29, 20);
    terminal.press('ctrl+c');
    expect(await terminal.exit()).toBe(130);
    expect(terminal.text()).toBe('Cancelled.');
  });
});

describe('what moves on a terminal that changes its size', () => {
  it('leaves nothing of a spinner', async () => {
    const { exchange, answer } = slowCreation();
    const { env } = await serviceWithPrompt({ textInputs: {}, imageInputs: [] }, exchange);
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor('creating the run');
    for (const columns of [12, 40, 20]) {
      await terminal.resize(columns, 24);
      await terminal.waitFor(/^. creating t\n?he run ·\s+\d+ s$/u);
    }
    answer();
    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toBe('At last.');
    expect(terminal.cursorIsVisible()).toBe(true);
  });

  it('leaves nothing of the bar of a batch', async () => {
    const { exchange, answer } = slowCreation();
    const { env } = await serviceWithPrompt({ textInputs: { topic: 'string' } }, exchange);
    const home = temporaryDirectory();
    writeFileSync(path.join(home, 'rows.csv'), 'topic\na\nb\n');
    const args = ['batch', VERSION_ID, '--from', 'rows.csv', '--out', 'out.jsonl', '--rate', '0'];
    const terminal = onTerminal(args, { env, home });
    await terminal.waitFor(/^░+ 0 of 2 done/u);
    for (const columns of [20, 60, 16]) {
      await terminal.resize(columns, 24);
      await terminal.waitFor(columns < 30 ? /^0 of 2 done,/u : /^░+ 0 of 2 done/u);
    }
    await terminal.resize(80, 24);
    answer();
    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toBe('note: 2 of 2 rows succeeded');
  });
});
