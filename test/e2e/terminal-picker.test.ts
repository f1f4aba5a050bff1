import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryDirectory, runInProcess } from '../support/context.ts';
import { failure, success } from '../support/scripted-service.ts';
import {
  onTerminal,
  startServiceWithPrompt,
  VERSION_ID,
} from '../support/terminals/terminal-command.ts';

const OLDER_ID = '1c1c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const SEARCH_KEYS = '  type to search · ↑↓ navigate · ⏎ select';
const LIST_KEYS = '  type to find · ↑↓ navigate · ⏎ select';

const row = (title: string, description: string) => ({
  promptId: VERSION_ID,
  promptVersionId: VERSION_ID,
  title,
  description,
  slug: title.toLowerCase(),
  model: 0,
  modality: 0,
  estimatedCredits: 1,
  uses: 1,
  upVotes: 0,
  samples: [],
  configs: {},
  publishedAt: '2025-01-02T03:04:05.000Z',
});

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

const search = (q: string, ...rows: object[]) => ({
  expect: { method: 'GET', path: '/prompts/publish', query: { q } },
  answer: success({ rows }),
  times: 'any' as const,
});

describe('run without a target on a terminal', () => {
  it('finds a prompt, with --ask a version and run options, and says how to repeat it', async () => {
    const versions = [
      { promptVersionId: VERSION_ID, publishedAt: daysAgo(800), isLatest: true },
      { promptVersionId: OLDER_ID, publishedAt: daysAgo(1200) },
    ];
    const models = [
      {
        model: 'writer',
        modality: 'text',
        availableRunOptions: [{ key: 'effort', options: ['low', 'high'] }],
      },
      {
        model: 'painter',
        modality: 'image',
        availableRunOptions: [{ key: 'quality', options: ['fine'] }],
      },
    ];

    const { env, service } = await startServiceWithPrompt(
      { textInputs: {}, imageInputs: [] },
      search('po', row('Poem', 'Verses about anything'), row('Postcard', 'Greetings')),
      { expect: { path: `/prompts/${VERSION_ID}/versions` }, answer: success({ versions }) },
      { expect: { path: '/resources' }, answer: success({ hash: 'h', resources: { models } }) },
    );
    const terminal = onTerminal(['run', '--ask'], { env, columns: 60, rows: 20 });
    await terminal.waitForScreen('? prompt  words to search for ›', '', SEARCH_KEYS);
    terminal.type('po');
    await terminal.waitForScreen(
      '? prompt  words to search for › po',
      '❯ Poem (poem)',
      '  Postcard (postcard)',
      '',
      '  Verses about anything',
      SEARCH_KEYS,
    );

    terminal.press('enter');
    await terminal.waitForScreen(
      '✔ prompt Poem (poem)',
      '? version',
      '❯ the latest, published 2 years ago',
      '  published 3 years ago',
      '',
      `  ${VERSION_ID}`,
      LIST_KEYS,
    );

    terminal.press('enter');
    await terminal.waitFor('❯ the defaults');

    expect(terminal.screen()).not.toContain('quality');

    terminal.press('down', 'enter');
    await terminal.waitFor('❯ (default)');
    terminal.type('hi\r');
    await terminal.waitFor('❯ continue with effort=high');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toContain(
      `To repeat it: promptrun run ${VERSION_ID} -o effort=high\nThe end.`,
    );
    expect(service.calls.filter(call => call.path === '/prompts/publish')).toHaveLength(1);
    expect(service.calls.at(-1)?.body).toMatchObject({ runOptions: { effort: 'high' } });
  });

  it('asks for nothing that is not required: the latest version is run, with the usual options', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'tea.prompt'), '---\nmodel: sandbox\n---\nBlack tea.\n');
    await onTerminal(['prompts', 'publish', 'tea.prompt'], { home }).exit();
    writeFileSync(path.join(home, 'tea.prompt'), '---\nmodel: sandbox\n---\nGreen tea.\n');
    await onTerminal(['prompts', 'publish', 'tea.prompt'], { home }).exit();
    const terminal = onTerminal(['run'], { home });
    await terminal.waitFor('❯ tea');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toMatch(
      /^✔ prompt .*tea.*\nTo repeat it: promptrun run tea\n[^?]*Green tea\.\n*$/u,
    );
  });

  it('offers aliases and the prompts used before without a search', async () => {
    const poem = { ...row('Poem', 'Verses'), promptId: OLDER_ID };
    const { env, service } = await startServiceWithPrompt(
      { textInputs: {}, imageInputs: [] },
      search('poem', poem),
    );
    const home = createTemporaryDirectory();

    expect((await runInProcess(['run', 'poem'], { env, home })).exitCode).toBe(0);

    await onTerminal(['alias', 'set', 'daily', VERSION_ID], { env, home }).exit();
    const terminal = onTerminal(['run'], { env, home });
    await terminal.waitFor('❯ daily');
    terminal.press('enter');

    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toContain('To repeat it: promptrun run daily\nThe end.');

    const again = onTerminal(['run'], { env, home });
    await again.waitFor('  A prompt');
    await again.waitFor('  poem');
    again.press('ctrl+c');

    expect(await again.exit()).toBe(130);

    const paths = service.calls.slice(2).map(call => call.path);
    expect(paths).toEqual([`/prompt-versions/${VERSION_ID}`, '/runs']);
  });

  it('says that nothing was found, and what went wrong', async () => {
    const { env } = await startServiceWithPrompt({}, search('x'), {
      expect: { query: { q: 'xy' } },
      answer: failure(422, 'VALIDATION_ERROR', 'no such \u001b[2Jwords'),
    });
    const terminal = onTerminal(['run'], { env });
    await terminal.waitFor('⏎ select');
    terminal.type('x');
    await terminal.waitFor('> No results found');
    terminal.type('y');
    await terminal.waitFor('> no such ^[[2Jwords');
    terminal.press('enter', 'ctrl+c');

    expect(await terminal.exit()).toBe(130);
    expect(terminal.screen()).toBe('Cancelled.');
  });

  it('ends with the error if the key is refused', async () => {
    const { env } = await startServiceWithPrompt(
      {},
      {
        expect: { path: '/prompts/publish' },
        answer: failure(401, 'UNAUTHORIZED_ERROR', 'Invalid API key'),
      },
    );
    const terminal = onTerminal(['run'], { env });
    await terminal.waitFor('⏎ select');
    terminal.type('x');

    expect(await terminal.exit()).toBe(3);
    expect(terminal.screen()).toContain('error: Invalid API key (UNAUTHORIZED_ERROR)');
  });

  it('is a usage error with --no-input', async () => {
    const terminal = onTerminal(['run', '--no-input']);
    expect(await terminal.exit()).toBe(2);
    expect(terminal.screen()).toContain('(USAGE_ERROR)');
  });
});
