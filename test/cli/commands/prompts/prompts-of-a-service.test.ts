import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { TEST_NOW } from '../../../support/context.ts';
import { runWithScript } from '../../../support/run-with-script.ts';
import { type Exchange, failure, success } from '../../../support/scripted-service.ts';

const PROMPT = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';
const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const ON_TERMINAL = { terminal: { stdout: true }, env: { NO_COLOR: '1' } };

const PLACE = { type: 'string', required: true, description: 'where it comes from' };
const MOOD = { type: 'string', default: 'sunny', enum: ['sunny', 'rainy'] };

const POSTCARD = {
  promptVersionId: VERSION,
  promptId: PROMPT,
  title: 'Postcard',
  publishedAt: new Date(TEST_NOW - 2 * 86_400_000).toISOString(),
  config: { textInputs: { place: PLACE, mood: MOOD }, imageInputs: [{ description: 'a stamp' }] },
  unknown: { kept: true },
};

const POSTCARD_PAGE = `Postcard

Prompt     ${PROMPT}
Version    ${VERSION}
Published  2 days ago

INPUT    NEEDED    DEFAULT  CHOICES       DESCRIPTION
place    required                         where it comes from
mood     optional  sunny    sunny, rainy
image 1  required                         a stamp

Run it: promptrun run ${VERSION} -i 'place=…' --image photo.png
`;

function getExchange(
  pathname: string,
  data: unknown,
  query: Record<string, string | null> = {},
): Exchange {
  return { expect: { method: 'GET', path: pathname, query }, answer: success(data) };
}

describe('prompts get', () => {
  it('shows the inputs a prompt expects and how to run it', async () => {
    const script = [getExchange(`/prompts/${PROMPT}`, POSTCARD, { versionId: null })];
    const { stdout, exitCode } = await runWithScript(script, ['prompts', 'get', PROMPT], {
      ...ON_TERMINAL,
      columns: 100,
    });
    expect(stdout).toBe(POSTCARD_PAGE);
    expect(exitCode).toBe(0);
  });

  it('shows the version of --version-id', async () => {
    const script = [getExchange(`/prompts/${PROMPT}`, POSTCARD, { versionId: VERSION })];
    await runWithScript(script, ['prompt', 'get', PROMPT, '--version-id', VERSION]);
  });

  it('prints a line for each fact and each input when piped', async () => {
    const { stdout } = await runWithScript(
      [getExchange(`/prompts/${PROMPT}`, POSTCARD)],
      ['prompts', 'get', PROMPT],
    );
    expect(stdout.split('\n')).toEqual([
      `promptId\t${PROMPT}`,
      `promptVersionId\t${VERSION}`,
      'title\tPostcard',
      `publishedAt\t${POSTCARD.publishedAt}`,
      'input\tplace\trequired\t\t\twhere it comes from',
      'input\tmood\toptional\tsunny\tsunny, rainy\t',
      'input\timage 1\trequired\t\t\ta stamp',
      '',
    ]);
  });

  it('prints the JSON unchanged', async () => {
    const { stdout } = await runWithScript(
      [getExchange(`/prompts/${PROMPT}`, POSTCARD)],
      ['prompts', 'get', PROMPT, '--json'],
    );
    expect(JSON.parse(stdout)).toEqual(POSTCARD);
  });

  it('caches the config', async () => {
    const { home } = await runWithScript(
      [getExchange(`/prompts/${PROMPT}`, POSTCARD)],
      ['prompts', 'get', PROMPT],
    );
    expect(readFileSync(path.join(home, 'config/prompts.json'), 'utf8')).toContain(
      'where it comes from',
    );
  });

  it.each([
    [{}, 'not described in a known form'],
    [{ textInputs: {}, imageInputs: [] }, 'It takes no inputs.'],
    [null, 'not described in a known form'],
  ])('explains the config %j', async (config, expectedText) => {
    const script = [getExchange(`/prompts/${PROMPT}`, { ...POSTCARD, config })];
    const { stdout } = await runWithScript(script, ['prompts', 'get', PROMPT], ON_TERMINAL);
    expect(stdout).toContain(expectedText);
    expect(stdout).toContain(`Run it: promptrun run ${VERSION}\n`);
  });

  it('prints an example that is safe to paste, without control characters', async () => {
    const textInputs = {
      "a'; touch x; '": { required: true, enum: ['$(y)'] },
      '\u001b[2J': { required: true },
    };
    const hostilePrompt = { ...POSTCARD, title: '\u001b]0;t\u0007', config: { textInputs } };
    const { stdout } = await runWithScript(
      [getExchange(`/prompts/${PROMPT}`, hostilePrompt)],
      ['prompts', 'get', PROMPT],
      {
        ...ON_TERMINAL,
        env: { ...ON_TERMINAL.env, SHELL: '/bin/sh' },
      },
    );

    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain(String.raw`-i 'a'\''; touch x; '\''=$(y)' -i $'\033[2J=…'`);
  });

  it('exits with 4 if the prompt does not exist', async () => {
    const script = [
      { answer: failure(404, 'NOT_FOUND_ERROR', 'no such prompt') },
      { answer: failure(404, 'NOT_FOUND_ERROR', 'no such version') },
    ];
    const { stderr, exitCode } = await runWithScript(script, ['prompts', 'get', PROMPT]);
    expect(stderr).toMatch(/^error: no such prompt \(NOT_FOUND_ERROR\)\n/u);
    expect(exitCode).toBe(EXIT.notFound);
  });

  it.each(['..', '%2e%2e', 'a/b', ''])('refuses the id %j before anything is sent', async id => {
    expect((await runWithScript([], ['prompts', 'get', id])).exitCode).toBe(EXIT.usage);
  });
});

describe('versions', () => {
  const entries = [
    { promptVersionId: VERSION, publishedAt: POSTCARD.publishedAt, isLatest: true },
    { promptVersionId: PROMPT, publishedAt: '2025-01-02T03:04:05.000Z' },
  ];
  const script = [
    getExchange(`/prompts/${PROMPT}/versions`, {
      promptId: PROMPT,
      title: 'Postcard',
      versions: entries,
    }),
  ];

  it('lists versions as a table on a terminal', async () => {
    const { stdout } = await runWithScript(script, ['versions', 'list', PROMPT], ON_TERMINAL);
    expect(stdout).toBe(
      [
        'PROMPT VERSION                        PUBLISHED',
        `${VERSION}  2 days ago  latest`,
        `${PROMPT}  1 year ago`,
        '',
      ].join('\n'),
    );
  });

  it('lists versions as tab-separated lines when piped, and as an array with --json', async () => {
    const { stdout } = await runWithScript(script, ['version', 'list', PROMPT]);
    expect(stdout).toBe(
      `${VERSION}\t${POSTCARD.publishedAt}\tlatest\n${PROMPT}\t2025-01-02T03:04:05.000Z\t\n`,
    );
    const json = await runWithScript(script, ['versions', 'list', PROMPT, '--json']);
    expect(JSON.parse(json.stdout)).toEqual(entries);
  });

  it('shows the inputs of one version', async () => {
    const one = [getExchange(`/prompt-versions/${VERSION}`, POSTCARD)];
    const { stdout } = await runWithScript(one, ['versions', 'get', VERSION], {
      ...ON_TERMINAL,
      columns: 100,
    });

    expect(stdout).toBe(POSTCARD_PAGE);

    const json = await runWithScript(one, [
      'versions',
      'get',
      VERSION,
      '--query',
      'config.textInputs.mood.default',
    ]);
    expect(json.stdout).toBe('sunny\n');
  });
});

describe('prompts search', () => {
  const row = {
    promptId: PROMPT,
    promptVersionId: VERSION,
    title: 'Postcard',
    description: 'Draws a postcard from a place of your choice',
    slug: 'postcard',
    model: 1,
    modality: 1,
    estimatedCredits: 4,
    uses: 12,
    upVotes: 3,
    publishedAt: POSTCARD.publishedAt,
    samples: [],
    configs: {},
  };

  const searchResult = (...rows: unknown[]): Exchange[] => [
    getExchange('/prompts/publish', { rows }, { q: 'post card' }),
  ];

  it('sends all words as one query', async () => {
    const { stdout } = await runWithScript(searchResult(row), [
      'prompts',
      'search',
      ' post',
      'card ',
    ]);
    expect(stdout).toBe(
      `postcard\t${VERSION}\t${PROMPT}\timage\t4\t${row.publishedAt}\tPostcard\t${row.description}\n`,
    );
  });

  it('shows the matches as a table and as JSON, and says if there are none', async () => {
    const words = ['prompts', 'search', 'post card'];
    const table = await runWithScript(searchResult(row), words, { ...ON_TERMINAL, columns: 120 });

    expect(table.stdout).toMatch(
      /^SLUG +TITLE +PROMPT +TYPE +CREDITS +USES +PUBLISHED +DESCRIPTION\npostcard +Postcard/u,
    );

    const narrow = await runWithScript(searchResult(row), words, { ...ON_TERMINAL, columns: 60 });
    expect(narrow.stdout).toContain(PROMPT.slice(0, 8));
    expect(narrow.stdout).not.toContain(PROMPT);
    expect(
      JSON.parse((await runWithScript(searchResult(row), [...words, '--json'])).stdout),
    ).toEqual([row]);
    expect((await runWithScript(searchResult(), words, ON_TERMINAL)).stdout).toBe(
      'no prompts found\n',
    );
    expect(await runWithScript(searchResult(), words)).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it.each([[['  ']], [['x'.repeat(201)]], [['x'.repeat(100), 'y'.repeat(100)]]])(
    'refuses the query %j, which the service would refuse',
    async words => {
      expect((await runWithScript([], ['prompts', 'search', ...words])).exitCode).toBe(EXIT.usage);
    },
  );

  it('accepts 200 characters, however many bytes they take', async () => {
    const q = 'ü'.repeat(200);
    await runWithScript(
      [getExchange('/prompts/publish', { rows: [] }, { q })],
      ['prompts', 'search', q],
    );
  });
});
