import stringWidth from 'fast-string-width';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { RunRow } from '../../../../src/wire/index.ts';
import { startInProcess, TEST_NOW, type TestOptions } from '../../../support/context.ts';
import { runWithScript, type ScriptedOutcome } from '../../../support/run-with-script.ts';
import {
  type Exchange,
  failure,
  startScriptedService,
  success,
} from '../../../support/scripted-service.ts';

const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const HOUR = 3600_000;

/** Two of these are more than a list may hold. */
const LARGE_OUTPUTS = { outputs: [{ type: 'text', data: 'x'.repeat(34_000_000) }] };

/** Returns the id of the nth run, the newest being 0. */
function getRunId(nth: number): string {
  return `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
}

function row(nth: number, more: Partial<RunRow> = {}): RunRow {
  return {
    runId: getRunId(nth),
    promptVersionId: VERSION,
    outputs: [],
    runStatus: 'succeeded',
    credits: 4,
    runName: `Run ${nth}`,
    createdAt: new Date(TEST_NOW - (nth + 1) * HOUR).toISOString(),
    ...more,
  };
}

/** Returns rows from the nth on. */
function rows(from: number, count: number): RunRow[] {
  return Array.from({ length: count }, (_, index) => row(from + index));
}

function page(query: Record<string, string | null>, answer: RunRow[], hasMore: boolean): Exchange {
  return {
    expect: { method: 'GET', path: '/runs', query },
    answer: success({ rows: answer, hasMore }),
  };
}

function list(
  args: readonly string[],
  script: readonly Exchange[],
  options: TestOptions = {},
): Promise<ScriptedOutcome> {
  return runWithScript(script, ['runs', 'list', ...args], options);
}

describe('the query of runs list', () => {
  it('requests 10 runs by default', async () => {
    const { stdout, exitCode } = await list([], [page({ limit: '10' }, rows(0, 2), false)]);
    expect(stdout.split('\n')).toHaveLength(3);
    expect(exitCode).toBe(0);
  });

  it('lists runs without the verb, too', async () => {
    const { stdout } = await runWithScript(
      [page({ limit: '2' }, rows(0, 2), false)],
      ['runs', '--limit', '2'],
    );
    expect(stdout.split('\n')).toHaveLength(3);
  });

  it('lists only runs of --prompt, in any version, up to --limit', async () => {
    const other = { promptVersionId: '1c1c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55' };
    const versions = {
      promptId: VERSION,
      title: 'A prompt',
      versions: [{ promptVersionId: VERSION }],
    };

    const script = [
      { expect: { path: `/prompts/${VERSION}/versions` }, answer: success(versions) },
      page({}, [row(0, other), row(1), row(2, other)], true),
      page({ startingAfter: getRunId(2) }, [row(3), row(4)], true),
    ];
    const { stdout } = await list(['--prompt', VERSION, '--limit', '2'], script);

    expect(stdout.match(/Run \d/gu)).toEqual(['Run 1', 'Run 3']);
  });

  it('sends the flags, with times in seconds', async () => {
    const seconds = TEST_NOW / 1000;
    await list(
      [
        '--status',
        'failed',
        '--since',
        '2h',
        '--until',
        '2026-01-02T03:00:00Z',
        '--starting-after',
        getRunId(1),
      ],
      [
        page(
          {
            status: 'failed',
            since: String(seconds - 7200),
            until: String(Date.UTC(2026, 0, 2, 3) / 1000),
            startingAfter: getRunId(1),
            endingBefore: null,
          },
          [],
          false,
        ),
      ],
    );
  });

  it.each([
    ['1767322800', 1767322800],
    ['2026-01-02', Date.UTC(2026, 0, 2) / 1000],
    ['2026-01-02T03:00:00.5+01:00', Date.UTC(2026, 0, 2, 2) / 1000],
    ['90s', Math.floor(TEST_NOW / 1000) - 90],
    ['30m', Math.floor(TEST_NOW / 1000) - 1800],
    ['7d', Math.floor(TEST_NOW / 1000) - 604_800],
    ['2w', Math.floor(TEST_NOW / 1000) - 1_209_600],
  ])('accepts the time %s', async (text, seconds) => {
    await list(['--since', text], [page({ since: String(seconds) }, [], false)]);
  });

  it.each([
    [['--status', 'failedd'], 'did you mean failed?'],
    [['--status', 'done'], 'Statuses: queued, running, succeeded, failed'],
    [['--limit', '0'], '--limit'],
    [['--limit', '-1'], '--limit'],
    [['--limit', '1.5'], '--limit'],
    [['--limit', 'many'], '--limit'],
    [['--limit', '5', '--all'], '--all and --limit'],
    [
      ['--starting-after', getRunId(1), '--ending-before', getRunId(2)],
      '--starting-after and --ending-before',
    ],
    [['--starting-after', 'nope'], '--starting-after'],
    [['--ending-before', `${getRunId(1)}0`], '--ending-before'],
    [['--since', 'yesterday'], '--since'],
    [['--since', '1767322800000'], 'Did you mean 1767322800?'],
    [['--since', '1h', '--until', '2h'], '--since'],
    [['--since', '100', '--until', '100'], '--since'],
    [
      ['--since', '2026-01-02T03:00:00.5Z', '--until', '2026-01-02T03:00:00.5Z'],
      'earlier than --until',
    ],
    [['--until', '2026-13-01'], '--until'],
    [['--since', '2026-02-30'], '--since'],
  ])('refuses %j before anything is sent', async (args, message) => {
    const { stderr, stdout, exitCode } = await list(args, []);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('the pages of runs list', () => {
  it('fetches only the pages that it needs, with at most 50 rows', async () => {
    const { stdout } = await list(
      ['--limit', '120'],
      [
        page({ limit: '50', startingAfter: null }, rows(0, 50), true),
        page({ limit: '50', startingAfter: getRunId(49) }, rows(50, 50), true),
        page({ limit: '20', startingAfter: getRunId(99) }, rows(100, 20), true),
      ],
    );
    expect(stdout.trim().split('\n')).toHaveLength(120);
  });

  it('fetches all pages with --all, with the same flags', async () => {
    const { stdout, stderr } = await list(
      ['--all', '--status', 'succeeded', '--json'],
      [
        page({ status: 'succeeded' }, rows(0, 50), true),
        page({ status: 'succeeded', startingAfter: getRunId(49) }, rows(50, 3), false),
      ],
    );
    expect((JSON.parse(stdout) as RunRow[]).map(({ runId }) => runId)).toEqual(
      rows(0, 53).map(({ runId }) => runId),
    );
    expect(stderr).toBe('');
  });

  it('says how to continue a limited list', async () => {
    const { stderr } = await list(['--limit', '2'], [page({}, rows(0, 2), true)]);
    expect(stderr).toBe(`more runs: --starting-after ${getRunId(1)}\n`);
  });

  it('quotes the cursor, so that a shell runs nothing of it', async () => {
    const { stderr } = await list(
      ['--limit', '1'],
      [
        page(
          {},
          rows(0, 1).map(row => ({ ...row, runId: 'x;$(y)' })),
          true,
        ),
      ],
    );
    expect(stderr).toBe("more runs: --starting-after 'x;$(y)'\n");
  });

  it('fetches pages backwards with --ending-before, and prints the newest run first', async () => {
    const { stdout, stderr } = await list(
      ['--ending-before', getRunId(200), '--limit', '70', '--query', '[].runId'],
      [
        page({ limit: '50', endingBefore: getRunId(200) }, rows(150, 50), true),
        page({ limit: '20', endingBefore: getRunId(150) }, rows(130, 20), true),
      ],
    );
    expect(JSON.parse(stdout)).toEqual(rows(130, 70).map(({ runId }) => runId));
    expect(stderr).toBe(`more runs: --ending-before ${getRunId(130)}\n`);
  });

  it('prints no more rows than requested if a page has more', async () => {
    const { stdout } = await list(
      ['--limit', '2', '--query', '[].runId'],
      [page({}, rows(0, 5), false)],
    );
    expect(JSON.parse(stdout)).toEqual([getRunId(0), getRunId(1)]);
  });

  it('exits with 1 if an answer is not a page', async () => {
    const { stderr, exitCode } = await list([], [{ answer: success({ rows: 'many' }) }]);
    expect(stderr).toContain('(PROTOCOL_ERROR)');
    expect(exitCode).toBe(EXIT.fault);
  });
});

describe('in a pipe', () => {
  it('prints tab-separated full ids and ISO times, without a header', async () => {
    const { stdout } = await list(
      [],
      [
        page(
          {},
          [row(0), row(1, { credits: null, runStatus: 'failed', runName: 'a\tb\r\nc' })],
          false,
        ),
      ],
    );
    expect(stdout).toBe(
      [
        `${getRunId(0)}\tsucceeded\t2026-01-02T02:04:05.000Z\t4\t${VERSION}\tRun 0`,
        `${getRunId(1)}\tfailed\t2026-01-02T01:04:05.000Z\t-\t${VERSION}\ta b c`,
        '',
      ].join('\n'),
    );
  });

  it('prints nothing for an empty list, and exits with 0', async () => {
    expect(await list([], [page({}, [], false)])).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it('stops quietly if the reader closes the pipe, and fetches no further page', async () => {
    const script = [page({}, rows(0, 50), true)];
    const { stderr, exitCode } = await list(['--all'], script, { readerTakes: 500 });
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });
});

describe('JSON', () => {
  it('prints an array of rows with every field of the service', async () => {
    const odd = { ...row(0), newField: { a: [1] } };
    const { stdout } = await list(['--json'], [page({}, [odd], false)]);
    expect(JSON.parse(stdout)).toEqual([odd]);
  });

  it('prints an empty array if there are no runs', async () => {
    expect((await list(['--json'], [page({}, [], false)])).stdout).toBe('[]\n');
  });

  it('prints one row per line with --ndjson', async () => {
    const { stdout } = await list(['--ndjson'], [page({}, rows(0, 2), false)]);
    expect(
      stdout.split('\n').map(line => (line === '' ? '' : (JSON.parse(line) as RunRow).runId)),
    ).toEqual([getRunId(0), getRunId(1), '']);
  });

  it.each([['--json'], ['--ndjson']])('keeps every digit of a number with %s', async flag => {
    const [first] = rows(0, 1);
    const body = JSON.stringify({
      status: 'SUCCESS',
      data: { rows: [{ ...first, serial: 0 }], hasMore: false },
    });
    const answer = { body: body.replace('"serial":0', '"serial":12345678901234567890') };
    const { stdout } = await list([flag], [{ answer }]);

    expect(stdout).toMatch(/"serial": ?12345678901234567890\b/u);
  });

  it('prints each page when it arrives with --ndjson', async () => {
    let printed = '';
    const service = await startScriptedService([
      page({}, rows(0, 50), true),
      {
        answer: () => {
          printed = running.stdout();
          return success({ rows: rows(50, 1), hasMore: false });
        },
      },
    ]);
    onTestFinished(() => service.close());
    const running = startInProcess(['runs', 'list', '--all', '--ndjson'], {
      env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' },
    });

    expect(await running.ended).toBe(0);
    expect(printed.trim().split('\n')).toHaveLength(50);
  });

  it('prints each page of an array when it arrives, and leaves the array open after a fault', async () => {
    let printed = '';
    const service = await startScriptedService([
      page({}, rows(0, 50), true),
      {
        answer: () => {
          printed = running.stdout();
          return failure(404, 'NOT_FOUND_ERROR', 'gone');
        },
      },
    ]);
    onTestFinished(() => service.close());
    const running = startInProcess(['runs', 'list', '--all', '--json'], {
      env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' },
    });

    expect(await running.ended).toBe(EXIT.notFound);
    expect(running.stdout()).toBe(printed);
    expect(JSON.parse(`${printed}]`)).toEqual(rows(0, 50));
  });

  it.each([
    {
      args: ['--all', '--query', 'length(@)'],
      fault: '--query: the list of runs has more than 64 MiB',
    },
    {
      args: ['--all', '--ending-before', getRunId(1)],
      fault: '--ending-before: the list of runs has more',
    },
  ])('limits the memory that $args may use', async ({ args, fault }) => {
    const script = [11, 12].map(nth => page({}, [row(nth, LARGE_OUTPUTS)], true));
    const { stdout, stderr, exitCode } = await list(args, script);
    expect(stderr).toContain(fault);
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('applies --query to each row with --ndjson', async () => {
    expect(
      (await list(['--ndjson', '--query', 'runName'], [page({}, rows(0, 2), false)])).stdout,
    ).toBe('Run 0\nRun 1\n');
  });
});

describe('on a terminal', () => {
  const terminal = { terminal: { stdout: true } };

  it('keeps only the shown part of large rows in memory', async () => {
    const script = [0, 1].map(nth => page({}, [row(nth, LARGE_OUTPUTS)], nth < 1));
    const { stdout, exitCode } = await list(['--all'], script, terminal);
    expect(stdout.match(/Run \d/gu)).toEqual(['Run 0', 'Run 1']);
    expect(exitCode).toBe(0);
  });

  it('prints a table with ages', async () => {
    const { stdout } = await list([], [page({}, [row(0), row(30, { credits: null })], false)], {
      ...terminal,
      columns: 140,
      env: { NO_COLOR: '1' },
    });
    expect(stdout).toBe(
      [
        'RUN                                   STATUS     NAME    AGE         CREDITS  PROMPT VERSION',
        `${getRunId(0)}  succeeded  Run 0   1 hour ago        4  ${VERSION}`,
        `${getRunId(30)}  succeeded  Run 30  1 day ago      free  ${VERSION}`,
        '',
      ].join('\n'),
    );
  });

  it.each([
    {
      columns: 60,
      name: 'beginnings of ids that tell them apart',
      ids: /^12345678 {2}succeeded .*\n12345679 {2}running /mu,
    },
    {
      columns: 300,
      name: 'ids shortened before a name is cut',
      ids: /^12345679 {2}running .*タワー {3,}2 hours/mu,
    },
    {
      columns: 400,
      name: 'ids whole',
      ids: /^12345678-0000-4000-8000-000000000000 {2}succeeded /mu,
    },
  ])('fits $columns columns, $name', async ({ columns, ids }) => {
    const runId = '12345678-0000-4000-8000-000000000000';
    const odd = {
      runId: runId.replace('8', '9'),
      runName: '東京タワー '.repeat(20),
      runStatus: 'running',
    };

    const { stdout } = await list(
      [],
      [page({}, [row(0, { runId }), row(1, odd as Partial<RunRow>)], false)],
      {
        ...terminal,
        columns,
        env: { NO_COLOR: '1' },
      },
    );
    for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);

    expect(stdout).toMatch(ids);
    expect(stdout).toMatch(/NAME .*AGE .*CREDITS/u);
    expect(stdout).toMatch(/2 hours/u);
  });

  it('colours statuses', async () => {
    const { stdout } = await list(
      [],
      [page({}, [row(0), row(1, { runStatus: 'failed' })], false)],
      {
        ...terminal,
        env: { FORCE_COLOR: '1' },
      },
    );
    expect(stdout).toContain('\u001b[32msucceeded\u001b[39m');
    expect(stdout).toContain('\u001b[31mfailed\u001b[39m');
  });

  it('says that there are no runs', async () => {
    expect((await list([], [page({}, [], false)], terminal)).stdout).toBe('no runs\n');
  });

  it('escapes control characters in names', async () => {
    const { stdout } = await list(
      [],
      [page({}, [row(0, { runName: '\u001b]0;owned\u0007' })], false)],
      {
        ...terminal,
        columns: 120,
        env: { NO_COLOR: '1' },
      },
    );
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('^[]0;owned^G');
  });
});
