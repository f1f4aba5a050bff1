import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..', '..');

interface Rule {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Beginnings of comments that leave the reader without a subject or a verb. */
const BEGINNINGS: readonly Rule[] = [
  {
    pattern: /(?:\/\*\*|^\s*\*|\/\/) (?:What|Where|Which|That)\b/,
    instead: 'a noun ("The …") or a verb ("Returns …")',
  },
  { pattern: /(?:\/\*\*|^\s*\*|\/\/) Whether\b/, instead: '"True if …" or "Returns true if …"' },
  { pattern: /(?:\/\*\*|^\s*\*|\/\/) (?:Of|By)\b/, instead: 'a whole sentence, the subject first' },
  { pattern: /(?:\/\*\*|^\s*\*|\/\/) (?:How|Why)\b/, instead: '"The number of …", "The time …"' },
];

/** Turns of phrase that must not come back, in code, docs and messages. */
const PHRASES: readonly Rule[] = [
  {
    pattern: /\b(?:is|are|was|were|be|been) told\b(?! apart)/,
    instead: '"learns", "sees", or "reports" with its subject',
  },
  { pattern: /\btells (?!apart)/, instead: '"reports", "shows" or "says"' },
  {
    pattern:
      /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|better\b|later\b|less\b|bigger\b|larger\b)/i,
    instead: '"is not a"',
  },
  { pattern: /, where (?:it|there|that|they|nothing|nobody|none)\b/, instead: '"if"' },
  { pattern: /\b(?:be|is) had\b/, instead: '"is available", "get"' },
  { pattern: /\b(?:gone|goes|going|go) on with\b/, instead: '"continues", "resumes"' },
  {
    pattern:
      /\b(?:the|a|what is|what was) (?:given|told|asked|found|held|said)\b(?! (?:[a-z]+s?\b))/,
    instead: 'the thing itself',
  },
  { pattern: /\bwhat (?:is|was) known of\b/i, instead: 'the facts by their name' },
  { pattern: /\bdeeds?\b/, instead: '"action"' },
  { pattern: /\bkeeps? house\b/, instead: '"housekeeping"' },
  { pattern: /\bis no (?:image|prompt|file|number|model|run) but\b/, instead: '"is x, not y"' },
  { pattern: /\ball the same\b/, instead: '"anyway"' },
  { pattern: /\bthere (?:is is|are are)\b/, instead: 'the sentence without "there is"' },
  { pattern: /\bgo(?:es)? on\b/, instead: '"continues", "is still running"' },
  { pattern: /\bfor ever\b/, instead: '"forever"' },
  { pattern: /\bexclude each other\b/, instead: '"can\'t be used together"' },
  { pattern: /\b(?:exists?|ended) already\b/, instead: '"already exists"' },
  { pattern: /\bwrong use\b/, instead: '"usage error"' },
  {
    pattern: /\b(?:process|processes|thread|file|line|column) of (?:its|their) own\b/,
    instead: '"its own x", "a separate x"',
  },
  { pattern: /\bas far as (?:it|they|known|possible)\b/, instead: 'the condition with "if"' },
  { pattern: /\bis needed here\b/, instead: '"Enter a …"' },
  { pattern: /\bnot all (?:of \w+ )?(?:could|can)\b/, instead: '"some … could not"' },
];

const shipped = [
  ...listFilesBelow('src', /\.(?:tsx?|html|css)$/),
  ...listFilesBelow('docs', /\.(?:md|txt)$/),
  'README.md',
];

const guides = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

const tools = ['test', 'scripts', 'action', 'bin']
  .flatMap(folder => listFilesBelow(folder, /\.(?:ts|m?js)$/))
  .filter(file => !file.endsWith('/words.test.ts'));

test.each(BEGINNINGS)('no comment begins with $pattern', rule => {
  expectNone(rule, [...shipped, ...tools]);
});

test.each(PHRASES)('nothing is written as $pattern', rule => {
  expectNone(rule, [...shipped, ...guides, ...tools]);
});

function expectNone({ pattern, instead }: Rule, files: readonly string[]): void {
  const places = files.flatMap(file =>
    readFileSync(path.join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(places, `write ${instead}`).toEqual([]);
}

function listFilesBelow(folder: string, name: RegExp): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => name.test(file))
    .map(file => path.posix.join(folder, file.split(path.sep).join('/')));
}
