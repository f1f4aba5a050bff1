import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const table = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');

/** A row: what a stranger can't do, and `path`: "name of a test" for each test that shows it. */
const PROOF = /`(test\/[\w./-]+)`: "([^"]+)"/gu;
const proofs = [...table.matchAll(PROOF)].map(([, file = '', name = '']) => [file, name] as const);

describe('SECURITY.md', () => {
  it('has proofs for each kind of stranger', () => {
    for (const stranger of [
      'repository',
      'service',
      'model',
      'agent',
      'user of a `serve`',
      'author',
    ]) {
      const rows = table.split('\n').filter(line => line.startsWith(`| ${stranger} |`));
      expect(rows.length, stranger).toBeGreaterThan(0);
      for (const row of rows) expect(row).toMatch(/`test\/[\w./-]+`: "/u);
    }
  });

  it.each(proofs)('names a test that exists: %s "%s"', (file, name) => {
    const source = readFileSync(path.join(root, file), 'utf8').replaceAll("\\'", "'");
    expect(source).toMatch(new RegExp(`['"\`]${escapeText(name)}['"\`],`, 'u'));
  });
});

function escapeText(text: string): string {
  return text.replace(/[$()*+./?[\\\]^{|}]/gu, '\\$&');
}
