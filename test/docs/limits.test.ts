import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runInProcess } from '../support/context.ts';

/** The limits that a user of `serve` may reach, by the code that enforces them. */
const LIMITS = {
  'queued runs': '10,000',
  media: '2 GiB',
  keys: /\b10 keys|keys of a user \| 10\b/u,
  'a request': '64 MiB',
  'values of a request': '100,000 values',
  'a picture': /20 MiB (?:\(422\)|\| 422)/u,
  'a prompt file': '128 KiB',
  'fields of a schema': '1,000 fields',
  'steps of a render': '1,000,000 loop iterations',
  'output of a render': '8 MiB',
  'time of a render': '2 s',
  'requests in memory': '256 MiB',
  connections: '4,096',
};

it.each(Object.entries(LIMITS))(
  'the limit of %s stands in help and guide of serve',
  async (_, limit) => {
    const help = (await runInProcess(['serve', '--help'])).stdout();
    const guide = readFileSync(path.resolve(import.meta.dirname, '../../docs/serve.md'), 'utf8');
    for (const text of [help, guide]) expect(text.replace(/\s+/gu, ' ')).toMatch(limit);
  },
);
