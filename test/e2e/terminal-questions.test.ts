import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';
import { png } from '../support/png.ts';
import { isPosix } from '../support/system.ts';
import { openTerminal } from '../support/terminals/terminal.ts';
import {
  onTerminal,
  startServiceWithPrompt,
  VERSION_ID,
} from '../support/terminals/terminal-command.ts';

const PNG = png(2, 2);
const LIST_KEYS = '  type to find · ↑↓ navigate · ⏎ select';
const TICK_KEYS = '  ↑↓ navigate · space select · a all · i invert · ⏎ submit';
const PASTED_KEYS = '  enter sends all lines · backspace goes back up · ctrl+o editor';

describe('questions on a terminal', () => {
  it("ask the local service's own prompts for text and choice, and say how to repeat it", async () => {
    const home = createTemporaryDirectory();
    const terminal = onTerminal(['run', 'postcard'], { home });
    await terminal.waitFor(
      '? place  where the postcard comes from\n  ctrl+o editor, for several lines',
    );
    terminal.press('enter');
    await terminal.waitFor('> Enter an answer.');
    terminal.type('Rome\r');
    await terminal.waitFor('❯ sunny');
    terminal.type('rai');
    await terminal.waitFor('❯ rainy');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain(
      '✔ place Rome\n✔ mood rainy\nTo repeat it: promptrun run postcard -i place=Rome -i mood=rainy\nfile:///',
    );
    expect(terminal.raw()).toContain('\u001b[?25h');
  });

  it('ask for variables: a text with its default, a choice, several within bounds', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({
      variables: {
        topic: { type: 0, description: 'What it is about', defaultValues: ['the sea'] },
        tone: {
          type: 2,
          description: 'How it sounds',
          options: ['warm', 'cold', 'dry'],
          defaultValues: ['cold'],
        },
        tags: { type: 2, options: ['short', 'rhymed', 'free'], multiple: { min: 1, max: 2 } },
      },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitForScreen(
      '? topic  What it is about (the sea)',
      '  ctrl+o editor, for several lines',
    );
    terminal.press('enter');
    await terminal.waitForScreen(
      '✔ topic the sea',
      '? tone  How it sounds',
      '  warm',
      '❯ cold',
      '  dry',
      '',
      LIST_KEYS,
    );

    terminal.press('down', 'enter');
    const done = ['✔ topic the sea', '✔ tone dry'];
    const list = ['❯◯ short', ' ◯ rhymed', ' ◯ free', ''];
    await terminal.waitForScreen(...done, '? tags  (from 1 to 2)', ...list, TICK_KEYS);
    terminal.press('enter');
    const problem = '> Choose from 1 to 2; 0 chosen.';
    await terminal.waitForScreen(...done, '? tags  (from 1 to 2)', ...list, problem, TICK_KEYS);
    terminal.press('space', 'down', 'down', 'space', 'enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain('✔ tags short, free\nTo repeat it: promptrun run');
    expect(terminal.screen().endsWith('The end.')).toBe(true);
    expect(sentInputs()).toEqual({
      textInputs: { topic: 'the sea', tone: 'dry', tags: 'short, free' },
    });
  });

  it('ask for a JSON type definition, leaving out what is optional', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({
      textInputs: {
        inputsJTD: {
          properties: {
            tone: { enum: ['warm', 'cold'], metadata: { description: 'How it sounds' } },
          },
          optionalProperties: { note: { type: 'string' }, size: { enum: ['s', 'm'] } },
        },
      },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor('❯ warm');
    terminal.type('co\r');
    await terminal.waitFor('? note');
    terminal.press('enter');
    await terminal.waitFor('❯ (none)');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(sentInputs()).toEqual({ textInputs: { tone: 'cold' } });
  });

  it('take any key=value if the config describes nothing', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({});
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor('enter them as key=value');
    terminal.type('oops\r');
    await terminal.waitFor('> needs key=value, not "oops"');
    terminal.press('ctrl+u');
    terminal.type('name=Ada = B\r');
    await terminal.waitFor('One more as key=value');
    terminal.paste('a=1\rb=2');
    terminal.press('enter');
    await terminal.waitFor('✔ input a=1 b=2');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(sentInputs()).toEqual({ textInputs: { name: 'Ada = B', a: '1', b: '2' } });
  });

  it('ask for images: Tab completes, and other files are refused at once', async () => {
    const home = createTemporaryDirectory();
    await mkdir(path.join(home, 'photos'));
    await writeFile(path.join(home, 'photos/cat one.png'), PNG);
    await writeFile(path.join(home, 'photos/cat two.png'), PNG);
    await writeFile(path.join(home, 'photos/fake.png'), 'no picture');
    const { env, sentInputs } = await startServiceWithPrompt({
      imageInputs: [{ description: 'A cat' }, { description: 'Another' }],
    });
    const terminal = onTerminal(['run', VERSION_ID], { env, home, columns: 60, rows: 20 });
    await terminal.waitForScreen('? image 1 of 2  A cat', '  tab completes');
    terminal.type('pho\tc\t');
    await terminal.waitForScreen(
      '? image 1 of 2  A cat photos/cat',
      '  cat one.png  cat two.png',
      '  tab completes',
    );

    terminal.type('o\t\r');
    await terminal.waitFor('? image 2 of 2');
    terminal.type('photos/fake.png\r');
    await terminal.waitFor('photos/fake.png is not an image');
    terminal.press('ctrl+u');
    terminal.type('https://example.com/cat.png\r');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain('✔ image 1 of 2 photos/cat one.png\n');
    expect(sentInputs()).toEqual({
      imageInputs: [
        { type: 'base64', base64: PNG.toString('base64') },
        { type: 'url', url: 'https://example.com/cat.png' },
      ],
    });
  });

  it('take answers that are typed ahead, each for its question', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({
      textInputs: {
        from: { type: 'string', required: true },
        to: { type: 'string', required: true },
        tone: { type: 'string', required: true, enum: ['warm', 'cold'] },
        size: { type: 'string', default: 'm' },
      },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor('? from');
    terminal.type('Ada\r\nBob\rcold\r\r');

    expect(await terminal.exit()).toBe(0);
    expect(sentInputs()).toEqual({
      textInputs: { from: 'Ada', to: 'Bob', tone: 'cold', size: 'm' },
    });
  });

  it('take pasted lines as one answer, which may continue', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({
      textInputs: { story: {}, note: {} },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor('? story');
    terminal.type('Once ');
    terminal.paste('upon\ra time\r\nthere was');
    await terminal.waitForScreen('? story Once upon a time 2 lines', '› there was', PASTED_KEYS);
    terminal.type(' a cat\r');
    await terminal.waitFor('? note');
    terminal.paste('first\rsecond\r');
    await terminal.waitFor('first second 2 lines\n›');
    terminal.press('backspace');
    await terminal.waitFor('first 1 line\n› second');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);

    const story = 'Once upon\na time\nthere was a cat';
    expect(sentInputs()).toEqual({ textInputs: { story, note: 'first\nsecond' } });
    expect(terminal.raw().match(/\?2004h/gu)).toHaveLength(2);
    expect(terminal.raw().match(/\?2004l/gu)).toHaveLength(2);
  });

  it.runIf(isPosix)('keep standard output for the result', async () => {
    const { env } = await startServiceWithPrompt({
      textInputs: { topic: {}, mood: { enum: ['a', 'b'] } },
    });
    const home = createTemporaryDirectory();
    const terminal = openTerminal({
      file: 'sh',
      args: ['-c', '"$@" > result', 'sh', process.execPath, COMMAND, 'run', VERSION_ID],
      cwd: home,
      env: buildCommandEnvironment(home, env),
    });
    await terminal.waitFor('? topic');
    terminal.type('x\r');
    await terminal.waitFor('❯ a');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(await readFile(path.join(home, 'result'), 'utf8')).toBe('The end.\n');
    expect(terminal.screen()).toContain('✔ topic x\n✔ mood a\nTo repeat it:');
    expect(terminal.screen()).not.toContain('The end.');
  });

  it('take a long text from the editor, with what was typed so far', async () => {
    const home = createTemporaryDirectory();
    const { env, sentInputs } = await startServiceWithPrompt({ textInputs: { story: {} } });
    const EDITOR = `${await writeEditor(home)} --wait`;
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, EDITOR }, home });
    await terminal.waitFor('? story');
    terminal.type('Once');
    await terminal.waitFor('? story Once');
    terminal.press('ctrl+o');
    await terminal.waitFor('the editor with Once');
    terminal.type('and more\r');

    expect(await terminal.exit()).toBe(0);
    expect(sentInputs()).toEqual({ textInputs: { story: 'Once\nand more' } });
    expect(terminal.screen()).toContain('✔ story Once and more\n');
    expect(terminal.text()).toContain("-i $'story=Once\\012and more'");
  });

  it('end with the editor at Ctrl-C', async () => {
    const home = createTemporaryDirectory();
    const { env, sentInputs } = await startServiceWithPrompt({ textInputs: { story: {} } });
    const terminal = onTerminal(['run', VERSION_ID], {
      env: { ...env, VISUAL: await writeEditor(home) },
      home,
    });
    await terminal.waitFor('? story');
    terminal.press('ctrl+o');
    await terminal.waitFor('the editor with');
    terminal.press('ctrl+c');

    expect(await terminal.exit()).toBe(130);
    expect(terminal.screen()).toContain('error: interrupted (INTERRUPTED)');
    expect(sentInputs()).toBeUndefined();
  });

  it('continue if the editor fails', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({ textInputs: { story: {} } });
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, EDITOR: 'false' } });
    await terminal.waitFor('? story');
    terminal.press('ctrl+o');
    await terminal.waitFor('> the editor "false" failed');
    terminal.type('Once\r');

    expect(await terminal.exit()).toBe(0);
    expect(sentInputs()).toEqual({ textInputs: { story: 'Once' } });
  });

  it('take Enter as terminals and scripts send it, and wide characters on several lines', async () => {
    const { env, sentInputs } = await startServiceWithPrompt({
      textInputs: { 名前: { description: 'お名前' }, שם: {} },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env, columns: 60, rows: 20 });
    await terminal.waitForScreen('? 名前  お名前', '  ctrl+o editor, for several lines');
    const name = '晴れの日には海へ行き、雨の日は家で本を読み、雪の日は山へ出かける人';
    terminal.type(name);
    await terminal.waitFor('出かける人');

    await expect.poll(() => terminal.screen().split('\n')).toHaveLength(3);

    terminal.press('backspace');
    terminal.type('者\r\n');
    await terminal.waitFor('? שם');
    terminal.type('נועה\r\n');

    expect(await terminal.exit()).toBe(0);
    expect(sentInputs()).toEqual({ textInputs: { 名前: name.replace(/人$/, '者'), שם: 'נועה' } });
  });

  it('show nothing of a config that would drive the terminal', async () => {
    const { env } = await startServiceWithPrompt({
      textInputs: {
        'a\u001b[2Jb': { description: 'x\u001b]0;title\u0007\ny\u202e', default: 'd\u001b[31m' },
        mood: { enum: ['\u001b[8mhidden', 'plain'], description: 'long '.repeat(200) },
      },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitForScreen(
      '? a^[[2Jb  x^[]0;title^G y\\u202e (d^[[31m)',
      '  ctrl+o editor, for several lines',
    );
    terminal.press('enter');
    await terminal.waitFor('❯ ^[[8mhidden');

    expect(terminal.screen().split('\n').length).toBeLessThan(13);

    terminal.press('ctrl+c');
    expect(await terminal.exit()).toBe(130);

    for (const hostile of ['\u001b[2J', '\u001b]0', '\u001b[8m', '\u202e']) {
      expect(terminal.raw()).not.toContain(hostile);
    }
  });
});

describe('leaving a question', () => {
  it.each([['ctrl+c'], ['ctrl+d']] as const)(
    '%s ends with 130, a clean screen, nothing sent',
    async key => {
      const { env, sentInputs } = await startServiceWithPrompt({
        variables: { x: { type: 2, options: ['a', 'b'] } },
      });
      const terminal = onTerminal(['run', VERSION_ID], { env });
      await terminal.waitFor('❯ a');
      terminal.press(key);

      expect(await terminal.exit()).toBe(130);
      expect(terminal.screen()).toBe('Cancelled.');
      expect(terminal.cursorIsVisible()).toBe(true);
      expect(sentInputs()).toBeUndefined();
    },
  );

  it.runIf(isPosix)('a signal does it as well, with the code of the signal', async () => {
    const { env } = await startServiceWithPrompt({
      variables: { x: { type: 2, options: ['a'], multiple: true } },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor('❯◯ a');

    expect(terminal.cursorIsVisible()).toBe(false);

    terminal.kill('SIGTERM');
    expect(await terminal.exit()).toBe(143);
    expect(terminal.screen()).toBe('error: terminated (INTERRUPTED)');
    expect(terminal.cursorIsVisible()).toBe(true);
  });

  it.runIf(isPosix)("restores the shell's terminal", async () => {
    const { env } = await startServiceWithPrompt({ textInputs: { topic: {} } });
    const home = createTemporaryDirectory();
    const terminal = openTerminal({
      file: 'sh',
      args: [
        '-c',
        '"$@"; echo "code $?"; stty -a',
        'sh',
        process.execPath,
        COMMAND,
        'run',
        VERSION_ID,
      ],
      cwd: home,
      env: buildCommandEnvironment(home, env),
    });
    await terminal.waitFor('? topic');
    terminal.type('half');
    terminal.press('ctrl+c');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain('Cancelled.\ncode 130\n');
    expect(terminal.screen()).toMatch(/(?<!-)icanon/u);
    expect(terminal.screen()).toMatch(/(?<!-)echo /u);
  });
});

describe('questions that may not be asked', () => {
  it('standard input was read to its end: what is optional is left out', async () => {
    const terminal = onTerminal(['run', 'postcard', '-q', '-i', 'place=@-']);
    terminal.type('Rome\r');
    await terminal.waitFor('Rome');
    terminal.press('ctrl+d');
    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toMatch(/^Rome\nfile:/u);
  });

  it('standard input was read to its end: no target can be picked', async () => {
    const terminal = onTerminal(['run', '-q', '-i', 'place=@-']);
    terminal.press('ctrl+d');
    expect(await terminal.exit()).toBe(2);
    expect(terminal.screen()).toContain("error: promptrun can't ask anything");
  });

  it.each([
    ['--no-input', {}],
    ['-q', { CI: 'true' }],
  ])('%s %j: what is missing is named', async (flag, more) => {
    const terminal = onTerminal(['run', 'postcard', flag], { env: more });
    expect(await terminal.exit()).toBe(2);
    expect(terminal.screen()).toContain('error: missing input: place (USAGE_ERROR)');
  });
});

/**
 * Returns an editor that shows the text, reads a line from the terminal and adds it to the text.
 */
async function writeEditor(home: string): Promise<string> {
  const file = path.join(home, 'my editor');
  const read = 'printf "the editor with "; cat "$file"; read line; echo "$line" >> "$file"';
  await writeFile(file, `#!/bin/sh\nfor file in "$@"; do :; done; ${read}\n`);
  await chmod(file, 0o755);
  return file.replaceAll(' ', '\\ ');
}
