import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'vitest';
import type { Fuzzed } from './fuzzed.ts';

// Small and always the same by default; `npm run fuzz` asks for more.
const minutes = Number(process.env['FUZZ_MINUTES'] ?? '0');
const seed = Number(process.env['FUZZ_SEED'] ?? '20260101');
const RUNS = 150;

const files = readdirSync(import.meta.dirname).filter(file => file.endsWith('.fuzz.ts'));

const rooms = await Promise.all(
  files.map(async file => ({
    file,
    ...((await import(path.join(import.meta.dirname, file))) as { default: readonly Fuzzed[] }),
  })),
);

const count = rooms.reduce((sum, { default: properties }) => sum + properties.length, 0);
const limitMs = (minutes * 60_000) / count;

const effort =
  minutes === 0
    ? { seed, runs: RUNS }
    : { seed, runs: Number.MAX_SAFE_INTEGER, timeLimitMs: limitMs };

describe.each(rooms)('whatever $file sends', ({ default: properties }) => {
  const named = properties.map((property): [string, Fuzzed] => [property.name, property]);
  it.each(named)('%s', (_, property) => property.check(effort), limitMs + 60_000);
});
