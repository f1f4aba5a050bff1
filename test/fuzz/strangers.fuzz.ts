import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { TASK_LOADERS } from '../../src/cli/checks/check-tasks.ts';
import { CliError } from '../../src/cli/core/errors.ts';
import type { Grid, GridPart } from '../../src/cli/outputs/html/grid.ts';
import { renderGridMarkdown } from '../../src/cli/outputs/html/grid-markdown.ts';
import { renderGridPage } from '../../src/cli/outputs/html/grid-page.ts';
import { replayFrom } from '../../src/cli/recordings/replay.ts';
import { readMapFields } from '../../src/cli/testing/cases/test-values.ts';
import { FileFault } from '../../src/files/formats/file-fault.ts';
import { parseYaml } from '../../src/files/formats/yaml.ts';
import { type Fuzzed, fuzzed, withDeadline } from './fuzzed.ts';

const PIECES = [
  '<',
  '>',
  '"',
  "'",
  '&',
  '</script>',
  '<img src=x onerror=a>',
  '@you',
  '\n',
  '\u202e',
  '#',
  '|',
  '`',
  'a',
];

const text = fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 30 });

const part: fc.Arbitrary<GridPart> = fc.oneof(
  fc.record({ kind: fc.constantFrom('text', 'message', 'error'), text }),
  fc.record({
    kind: fc.constant('difference'),
    parts: fc.array(
      fc.record({ kind: fc.constantFrom('same', 'removed', 'added', 'note'), text }),
      {
        maxLength: 3,
      },
    ),
  }),
  fc.record({ kind: fc.constant('media'), url: fc.option(text, { nil: undefined }) }),
);

const state = fc.constantFrom(
  'passed',
  'failed',
  'changed',
  'not run',
  'same',
  'succeeded',
) as fc.Arbitrary<'failed'>;

const cell = fc.record({
  state,
  facts: fc.array(text, { maxLength: 2 }),
  parts: fc.array(part, { maxLength: 3 }),
});

const row = fc.record({
  name: text,
  place: text,
  state,
  inputs: fc.array(fc.tuple(text, text), { maxLength: 2 }),
  cells: fc.array(fc.option(cell, { nil: undefined }), { maxLength: 2 }),
});

const total = fc.record({ name: text, value: text });

const grid: fc.Arbitrary<Grid> = fc.record({
  title: text,
  facts: fc.array(text, { maxLength: 2 }),
  columns: fc.array(fc.record({ name: text, totals: fc.array(total, { maxLength: 2 }) }), {
    maxLength: 3,
  }),
  rows: fc.array(row, { maxLength: 4 }),
  faults: fc.array(text, { maxLength: 2 }),
});

/** A recording as it is, and with something else in one of its places. */
const RECORDING = {
  request: {
    promptVersionId: 'a',
    textInputs: { a: 'b' },
    imageInputs: ['c'],
    runOptions: {},
    model: null,
    schema: null,
    repetition: 1,
  },
  answer: {
    httpStatus: 200,
    body: {
      status: 'SUCCESS',
      data: {
        runId: 'r',
        runStatus: 'succeeded',
        outputs: [{ type: 'text', data: 'd' }],
        tokens: 1,
      },
    },
  },
  media: [{ url: 'https://example.com/a', sha256: '../../../etc/passwd', contentType: null }],
};

const PLACES = listPlaces(RECORDING);

function listPlaces(value: unknown, place: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...place]];
  return [
    [...place],
    ...Object.entries(value).flatMap(([key, one]) => listPlaces(one, [...place, key])),
  ];
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...(value as unknown[])] as unknown as Record<string, unknown>)
    : { ...(value as Record<string, unknown>) };
  copy[key] = replaceAt(copy[key], rest, by);
  return copy;
}

/** Returns true if something ends well, or with an error that is meant for people. */
async function endsWell(work: () => unknown): Promise<boolean> {
  try {
    await withDeadline(async () => work());
    return true;
  } catch (error) {
    if (error instanceof CliError || error instanceof FileFault) return true;
    throw error;
  }
}

export default [
  fuzzed('a page holds only the tags of its own', grid, async given => {
    const page = await withDeadline(() => renderGridPage(given));
    const [, body = ''] = /<\/style>([^]*)<script>/.exec(page) ?? [];
    const tags = [...body.matchAll(/<(?!\/)([^>]*)>/g)].map(([, tag = '']) => tag);
    const own =
      /^(?:header|h1|p|div class="[a-z ]*"|table|tr|th|td|ul class="bad"|li|nav|label|input type="(?:checkbox" value="[a-z ]*" checked|search"[^<>]*)|span class="[a-z ]*"|output|main|details data-state="[a-z ]*"(?: open)?|summary|b|small|section|h3|pre(?: class="bad")?|p class="bad"|del|ins|em|img alt="" src="[^"<>]*"|video controls src="[^"<>]*")$/;
    const strange = tags.find(tag => !own.test(tag));
    if (strange !== undefined) throw new Error(strange);
  }),

  fuzzed(
    'a comment is short enough and mentions nobody',
    fc.tuple(grid, fc.integer({ min: 500, max: 3000 })),
    async ([given, most]) => {
      const comment = await withDeadline(() => renderGridMarkdown(given, most));
      return comment.length <= Math.max(most, 1500) && !/@\w|<img/.test(comment);
    },
  ),

  fuzzed(
    'differences of any texts are found soon, and lose nothing of the second',
    fc.tuple(text, text),
    async ([one, other]) => {
      const find = await TASK_LOADERS.compareTexts();
      const parts = (await withDeadline(async () => find(one, other, 'lines'))) ?? [];
      const rest = parts
        .filter(({ kind }) => kind === 'same' || kind === 'added')
        .map(part => part.text);
      return rest.join('') === other;
    },
  ),

  fuzzed(
    'a recording is taken as it should be or refused, whatever is in it',
    fc.tuple(fc.constantFrom(...PLACES), fc.oneof(fc.jsonValue(), text)),
    async ([place, by]) => {
      const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-fuzz-'));
      try {
        mkdirSync(path.join(directory, 'runs'));
        writeFileSync(
          path.join(directory, 'runs', 'a.json'),
          JSON.stringify(replaceAt(RECORDING, place, by)) ?? '',
        );
        const ended = await endsWell(() =>
          replayFrom({ directory, baseUrl: 'http://localhost/v1' }),
        );
        return ended && readdirSync(directory).join() === 'runs';
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  ),

  fuzzed(
    'a test file is read or refused with its place',
    fc.string({
      unit: fc.constantFrom(
        'cases',
        ':',
        ' ',
        '\n',
        '- ',
        '{',
        '}',
        '[',
        ']',
        '&a',
        '*a',
        '<<',
        '!!x',
        '"',
        "'",
        '|',
        '1',
        'a',
        '@',
      ),
      maxLength: 60,
    }),
    given =>
      endsWell(() => readMapFields(parseYaml(given, 1, 'x.test.yaml'), 'a test file', ['cases'])),
  ),
] satisfies readonly Fuzzed[];
