import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckRunner } from '../../../../src/cli/checks/check-runner.ts';
import { computeDifferences } from '../../../../src/cli/outputs/differences.ts';
import type { Grid, GridRange } from '../../../../src/cli/outputs/html/grid.ts';
import { renderGridPage } from '../../../../src/cli/outputs/html/grid-page.ts';

const HOSTILE = `"'><img src=x onerror=alert(1)><script>alert(2)</script>&amp;`;

const RANGE: GridRange = {
  label: HOSTILE,
  text: HOSTILE,
  value: 0,
  interval: [-0.5, 1],
  min: -1,
  comparedValue: 0,
  tone: 'changed',
};

/** A grid in which everything that can be somebody else's is hostile. */
const GRID: Grid = {
  title: HOSTILE,
  facts: [HOSTILE],
  ranges: [RANGE],
  columns: [
    { name: HOSTILE, totals: [{ name: HOSTILE, value: HOSTILE }] },
    { name: 'b', totals: [{ name: HOSTILE, value: '1' }] },
  ],
  rows: [
    {
      name: HOSTILE,
      place: HOSTILE,
      state: 'failed',
      inputs: [[HOSTILE, HOSTILE]],
      cells: [
        {
          state: 'failed',
          facts: [HOSTILE],
          ranges: [RANGE],
          parts: [
            { kind: 'text', text: HOSTILE },
            { kind: 'message', text: HOSTILE },
            { kind: 'error', text: HOSTILE },
            { kind: 'difference', parts: [{ kind: 'added', text: HOSTILE }] },
            { kind: 'media', url: HOSTILE },
          ],
        },
        undefined,
      ],
    },
  ],
  faults: [HOSTILE],
};

/** The number of hostile texts in the page: the 21 of the grid, some of them more than once. */
const SHOWN_HOSTILE_COUNT = 28;

describe('a page', () => {
  it('shows foreign text as text, never as HTML', () => {
    const page = renderGridPage(GRID);
    expect(page).not.toContain('<img src=x');
    expect(page.match(/<script/gu)).toHaveLength(1);
    expect(page.match(/&quot;&#39;&gt;&lt;img src=x/gu)).toHaveLength(SHOWN_HOSTILE_COUNT);
  });

  it('allows its own script and style by their digests, and nothing else', () => {
    const page = renderGridPage(GRID);
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/u.exec(page) ?? [];

    const digest = (element: string): string => {
      const [, text = ''] = new RegExp(`<${element}>([^]*?)</${element}>`, 'u').exec(page) ?? [];
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    };

    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      'img-src data:',
      'media-src data:',
      `style-src ${digest('style')}`,
      `script-src ${digest('script')}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(page).not.toMatch(/ (?:style|on\w+)="/u);
  });
});

describe('differences', () => {
  const checks = new CheckRunner(new AbortController().signal);
  const CHECKS_CONTEXT = { checks: () => Promise.resolve(checks) };
  afterAll(() => checks.close());

  const repeatLine = (text: string): string =>
    Array.from({ length: 3000 }, (_, index) => `${text} ${index}\n`).join('');

  it('of more than 2,000 lines are counted, and the first 50 shown', async () => {
    const [note, ...parts] = await computeDifferences(
      CHECKS_CONTEXT,
      `same\n${repeatLine('a')}`,
      `same\n${repeatLine('b')}`,
      'lines',
    );
    expect(note?.text).toBe('3,000 lines differ; the first 50:\n');
    expect(parts).toHaveLength(100);
    expect(parts.slice(0, 2)).toEqual([
      { kind: 'removed', text: 'a 0\n' },
      { kind: 'added', text: 'b 0\n' },
    ]);
  });

  it('of few lines in long texts are shown whole', async () => {
    const parts = await computeDifferences(
      CHECKS_CONTEXT,
      repeatLine('a'),
      `new\n${repeatLine('a')}`,
      'lines',
    );
    expect(parts.map(({ kind }) => kind)).toEqual(['added', 'same']);
  });
});
