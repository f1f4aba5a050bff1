// Fails if a regular expression in src/ takes more than linear time on some text: a long line from a server, or in a file,
// would hang the command. Verdicts are cached in node_modules/.cache, so that only new patterns cost time.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { check } from 'recheck';
import { parseAst } from 'rolldown/parseAst';

const CACHE_FILE = path.resolve('node_modules/.cache/promptrun-patterns.json');

/** Time limits in milliseconds. With the defaults, which are shorter, a busy machine would change the checker's verdicts. */
const CHECK_LIMITS = { timeout: 60_000, incubationTimeout: 20_000, attackTimeout: 20_000 };

/** Patterns that the checker can't decide on, and why they are linear anyway. */
const REVIEWED_PATTERNS = new Map([
  [
    '(?:[-?:][ \\t]+){200}',
    'no text is read more than 200 times: the two classes have nothing in common',
  ],
]);

const verdicts = readVerdicts();
const faults = [];
const fileNames = readdirSync('src', { recursive: true, encoding: 'utf8' });
for (const file of fileNames.filter(name => name.endsWith('.ts'))) {
  const code = readFileSync(path.join('src', file), 'utf8');
  for (const { pattern, flags, start } of findPatterns(parseAst(code, { lang: 'ts' }))) {
    const verdict = await checkPattern(pattern, flags);
    const line = code.slice(0, start).split('\n').length;
    if (verdict !== 'safe') faults.push(`src/${file}:${line}: /${pattern}/${flags} ${verdict}`);
  }
}
mkdirSync(path.dirname(CACHE_FILE), { recursive: true });
writeFileSync(CACHE_FILE, JSON.stringify(verdicts));
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function checkPattern(pattern, flags) {
  if (REVIEWED_PATTERNS.has(pattern)) return 'safe';
  const key = `/${pattern}/${flags}`;
  verdicts[key] ??= describeVerdict(await check(pattern, flags, CHECK_LIMITS));
  return verdicts[key];
}

function describeVerdict({ status, complexity, attack }) {
  if (status === 'safe') return 'safe';
  if (status === 'unknown') {
    return 'could not be decided on: scripts/check-patterns.js lists those that a person has reviewed';
  }
  return `is ${complexity?.summary ?? 'not linear'}, for example on ${attack?.pattern ?? 'some text'}`;
}

/** Yields every regular expression literal. */
function* findPatterns(node) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'Literal' && node.regex) yield { ...node.regex, start: node.start };
  for (const child of Object.values(node)) yield* findPatterns(child);
}

function readVerdicts() {
  try {
    return JSON.parse(readFileSync(CACHE_FILE, 'utf8'));
  } catch {
    return {};
  }
}
