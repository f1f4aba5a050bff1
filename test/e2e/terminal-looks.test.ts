import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryDirectory } from '../support/context.ts';
import { success } from '../support/scripted-service.ts';
import {
  createSlowCreation,
  onTerminal,
  RUN_ID,
  startServiceWithPrompt,
  VERSION_ID,
} from '../support/terminals/terminal-command.ts';

const NO_INPUTS = { textInputs: {}, imageInputs: [] };
const ESCAPE = '\u001b';
const COLOUR = new RegExp(`${ESCAPE}\\[\\d+m`, 'u');

describe('the spinner', () => {
  it('shows what is waited for, and leaves nothing on the screen', async () => {
    const { exchange, answer } = createSlowCreation();
    const { env } = await startServiceWithPrompt(NO_INPUTS, exchange);
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await terminal.waitFor(/^. creating the run · \d+ s$/u);

    expect(terminal.cursorIsVisible()).toBe(false);

    answer();
    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toBe('At last.');
    expect(terminal.cursorIsVisible()).toBe(true);
  });

  it('is gone as well after Ctrl-C', async () => {
    const { exchange, arrived } = createSlowCreation();
    const { env } = await startServiceWithPrompt(NO_INPUTS, exchange);
    const terminal = onTerminal(['run', VERSION_ID], { env });
    await arrived;
    await terminal.waitFor('creating the run');
    terminal.press('ctrl+c');

    expect(await terminal.exit()).toBe(130);
    expect(terminal.text()).toMatch(/^error: interrupted.*\(INTERRUPTED\)\n/u);
    expect(terminal.text()).not.toContain('creating');
    expect(terminal.cursorIsVisible()).toBe(true);
  });

  it.each([
    ['--no-spinner', {}],
    ['--no-color', { ACCESSIBLE: '1' }],
    ['--no-preview', { TERM: 'dumb' }],
  ])('is plain lines with %s %j', async (flag, variables) => {
    const { exchange, answer } = createSlowCreation();
    const { env } = await startServiceWithPrompt(NO_INPUTS, exchange);
    const terminal = onTerminal(['run', VERSION_ID, flag], { env: { ...env, ...variables } });
    await terminal.waitFor('creating the run');
    answer();
    expect(await terminal.exit()).toBe(0);
    expect(terminal.raw()).toMatch(/^creating the run\r\n(.*\r\n)?At last\.\r\n$/u);
  });
});

describe('the bar of a batch', () => {
  it('shows how far it is, and leaves nothing on the screen', async () => {
    const { exchange, answer } = createSlowCreation();
    const { env } = await startServiceWithPrompt({ textInputs: { topic: {} } }, exchange);
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'rows.csv'), 'topic\na\nb\n');
    const args = ['batch', VERSION_ID, '--from', 'rows.csv', '--out', 'out.jsonl', '--rate', '0'];
    const terminal = onTerminal(args, { env, home });
    await terminal.waitFor(/^. ░{20} 0 of 2 done, 0 failed/u);
    answer();

    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toMatch(/^note: 2 of 2 rows succeeded\nnote: \d runs? took /u);
    expect(terminal.cursorIsVisible()).toBe(true);
  });
});

describe('the progress of tests and comparisons', () => {
  it.each([
    [
      'test',
      ['test', 'note.test.yaml', '--concurrency', '1'],
      /^. [01] of 2 answers checked · \d+ s$/u,
    ],
    [
      'compare',
      ['compare', VERSION_ID, VERSION_ID, '--from', 'rows.csv'],
      /^. 0 of 2 answers · \d+ s$/u,
    ],
  ])('of %s shows how far it is, and leaves nothing on the screen', async (_, argv, shown) => {
    const { exchange, arrived } = createSlowCreation();
    const { env } = await startServiceWithPrompt(NO_INPUTS, { ...exchange, times: 'any' });
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'rows.csv'), 'id\na\n');
    writeFileSync(
      path.join(home, 'note.test.yaml'),
      `target: ${VERSION_ID}\ncases: [{ name: a }, { name: b }]\n`,
    );
    const terminal = onTerminal(argv, { env, home });
    await arrived;
    await terminal.waitFor(shown);
    terminal.press('ctrl+c');

    expect(await terminal.exit()).toBe(130);
    expect(terminal.text()).not.toContain('answers');
    expect(terminal.cursorIsVisible()).toBe(true);
  });
});

describe('questions in plain lines', () => {
  it.each([[{ ACCESSIBLE: '1' }], [{ TERM: 'dumb' }]])('with %j', async variables => {
    const { env, sentInputs } = await startServiceWithPrompt({
      variables: {
        topic: { type: 0, description: 'What about', defaultValues: ['the sea'] },
        tags: { type: 2, options: ['short', 'rhymed', 'free'], multiple: { max: 2 } },
      },
    });
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, ...variables } });
    await terminal.waitFor('topic. What about (default: the sea):');
    terminal.press('enter');
    await terminal.waitFor('  3. free');
    terminal.type('1, 9\r');
    await terminal.waitFor('Choose from 1 to 3.');
    terminal.type('1, free\r');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.raw()).not.toContain(ESCAPE);
    expect(sentInputs()).toEqual({ textInputs: { topic: 'the sea', tags: 'short, free' } });
  });
});

describe('colours', () => {
  const list = async (args: readonly string[], variables: Record<string, string>) => {
    const rows = [runRow('succeeded', 'One'), runRow('failed', 'Two')];
    const { env } = await startServiceWithPrompt({}, { answer: success({ rows, hasMore: false }) });
    const terminal = onTerminal(['runs', 'list', ...args], { env: { ...env, ...variables } });
    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain('failed');
    return terminal.raw();
  };

  it('appear on a terminal, and if forced even on one without colours', async () => {
    expect(await list([], {})).toMatch(COLOUR);
    expect(await list([], { TERM: 'dumb', FORCE_COLOR: '1' })).toMatch(COLOUR);
  });

  it.each([
    [['--no-color'], {}],
    [[], { NO_COLOR: '1' }],
    [[], { TERM: 'dumb' }],
  ])('are left out with %j %j', async (args, variables) => {
    expect(await list(args, variables)).not.toContain(ESCAPE);
  });

  it('are left out of questions and spinner as well', async () => {
    const { exchange, answer } = createSlowCreation();
    const config = { textInputs: { topic: {}, mood: { enum: ['a', 'b'] } } };
    const { env } = await startServiceWithPrompt(config, exchange);
    const terminal = onTerminal(['run', VERSION_ID], { env: { ...env, NO_COLOR: '1' } });
    await terminal.waitFor('? topic');
    terminal.type('x\r');
    await terminal.waitFor('❯ a');
    terminal.press('enter');
    await terminal.waitFor('creating the run');
    answer();

    expect(await terminal.exit()).toBe(0);
    expect(terminal.raw()).not.toMatch(COLOUR);
  });
});

describe('on a terminal', () => {
  it('mcp says what it waits for', async () => {
    const terminal = onTerminal(['mcp'], { columns: 160 });
    await terminal.waitFor(
      'note: waiting for a client of the Model Context Protocol on standard input; press Ctrl-D to end. How a client starts it: promptrun mcp --help',
    );
    terminal.press('ctrl+d');
    expect(await terminal.exit()).toBe(0);
  });

  it('a run that half succeeded says so, and its fault is not in red', async () => {
    const terminal = onTerminal(['run', 'sandbox', '-o', 'outcome=partial']);
    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain('note: the run succeeded, but 1 part of it failed');
    expect(terminal.raw()).toContain(`${ESCAPE}[33merror:`);
  });

  it('run alone offers the prompt files of the directory', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'note.prompt'), '---\nmodel: echo\n---\nA note.\n');
    const terminal = onTerminal(['run'], { home });
    await terminal.waitFor('note.prompt');
    terminal.type('note');
    await terminal.waitFor('❯ note.prompt');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.screen()).toContain('A note.');
  });
});

describe('a table', () => {
  it.each([[60], [80], [110]])(
    'fits %i columns, whatever script the names are in',
    async columns => {
      const names = [
        '晴れの日の長い長い旅行計画のための詩',
        'שלום עולם',
        'مرحبا بالعالم',
        `a${ESCAPE}[2Jb\u202ec`,
        '🎉 party',
      ];
      const rows = names.map(name => runRow('succeeded', name));
      const { env } = await startServiceWithPrompt(
        {},
        { answer: success({ rows, hasMore: false }) },
      );
      const terminal = onTerminal(['runs', 'list'], { env, columns, rows: 20 });

      expect(await terminal.exit()).toBe(0);
      expect(terminal.screen().split('\n')).toHaveLength(names.length + 1);
      expect(terminal.text()).toBe(terminal.screen());
      expect(terminal.raw()).not.toContain(`${ESCAPE}[2J`);
      expect(terminal.raw()).not.toContain('\u202e');
      expect(terminal.screen()).toContain('שלום עולם');
    },
  );
});

describe('links and pictures', () => {
  const url = 'https://example.com/a.png';
  const image = {
    runId: RUN_ID,
    runStatus: 'succeeded',
    tokens: 1,
    outputs: [{ type: 'image', data: url }],
  };

  const link = `${ESCAPE}]8;;${url}\u0007${url}${ESCAPE}]8;;\u0007`;

  const show = async (args: readonly string[], variables: Record<string, string>) => {
    const { env } = await startServiceWithPrompt(
      {},
      { expect: { method: 'GET' }, answer: success(image) },
    );
    const terminal = onTerminal(['runs', 'get', RUN_ID, '--no-preview', ...args], {
      env: { ...env, ...variables },
    });
    expect(await terminal.exit()).toBe(0);
    return terminal;
  };

  it('link URLs if the terminal has links, and look the same everywhere', async () => {
    const linked = await show([], { TERM_PROGRAM: 'WezTerm' });
    const plain = await show([], {});
    expect(linked.raw()).toContain(link);
    expect(plain.raw()).not.toContain(`${ESCAPE}]8`);
    expect(linked.screen()).toBe(plain.screen());
  });

  it.each([
    ['kitty', { TERM: 'xterm-kitty', KITTY_WINDOW_ID: '1' }, `${ESCAPE}_G`],
    [
      'iTerm2',
      { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.5.0' },
      `${ESCAPE}]1337;File=`,
    ],
  ])('show a small picture in %s', async (_name, env, start) => {
    const args = ['run', 'postcard', '-i', 'place=Rome', '-i', 'mood=rainy', '--save'];
    const shown = onTerminal(args, { env });
    expect(await shown.exit()).toBe(0);
    expect(shown.raw()).toContain(start);
  });

  it('show no picture if that is turned off', async () => {
    const env = { TERM: 'xterm-kitty', KITTY_WINDOW_ID: '1' };
    const args = [
      'run',
      'postcard',
      '-i',
      'place=Rome',
      '-i',
      'mood=rainy',
      '--save',
      '--no-preview',
    ];
    const terminal = onTerminal(args, { env });

    expect(await terminal.exit()).toBe(0);
    expect(terminal.raw()).not.toContain(`${ESCAPE}_G`);
  });
});

describe('the pager', () => {
  const rows = Array.from({ length: 40 }, (_, index) => runRow('succeeded', `Run ${index}`));
  const list = async (args: readonly string[]) => {
    const { env } = await startServiceWithPrompt(
      {},
      { answer: success({ rows, hasMore: false }), times: 'any' },
    );
    const PAGER = "sed 's/^/| /'";
    const terminal = onTerminal(['runs', 'list', '--limit', '40', ...args], {
      env: { ...env, PAGER },
    });

    expect(await terminal.exit()).toBe(0);

    return terminal.text();
  };

  it('takes what is longer than the screen', async () => {
    expect((await list([])).split('\n').every(line => line.startsWith('| '))).toBe(true);
  });

  it('is left out with --no-pager', async () => {
    expect(await list(['--no-pager'])).not.toContain('| ');
  });
});

describe('login', () => {
  it('never shows the key', async () => {
    const { env } = await startServiceWithPrompt(
      {},
      {
        expect: { path: '/resources' },
        answer: success({ hash: 'h', resources: { models: [] } }),
        times: 'any',
      },
    );
    const base = env['PROMPTRUN_BASE_URL'] ?? '';
    const terminal = onTerminal([
      'login',
      '--profile',
      'work',
      '--base-url',
      base,
      '--no-keychain',
    ]);
    await terminal.waitFor('API key');
    terminal.type('secret-key');
    await terminal.waitFor('**********');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.raw()).not.toContain('secret');
  });
});

function runRow(runStatus: string, runName: string): object {
  return {
    runId: RUN_ID,
    promptVersionId: VERSION_ID,
    outputs: [],
    runStatus,
    runName,
    credits: 1,
    createdAt: '2025-01-02T03:04:05.000Z',
  };
}
