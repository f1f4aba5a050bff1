import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256, uniqueId } from '../../../src/cli/core/sha256.ts';
import { isUuid } from '../../../src/wire/limits.ts';

const byNode = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the digest of a text', () => {
  it.each([0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 16_383, 16_384, 16_385])(
    'is that of Node for %i bytes',
    length => {
      expect(sha256('a'.repeat(length))).toBe(byNode('a'.repeat(length)));
    },
  );

  it('is that of Node whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), text => {
        expect(sha256(text)).toBe(byNode(text));
      }),
      { numRuns: 30 },
    );
  });
});

describe('an id of its own', () => {
  it('is a UUID of version 4, another each time', () => {
    const ids = Array.from({ length: 1000 }, uniqueId);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) {
      expect(isUuid(id)).toBe(true);
      expect(id).toMatch(/^.{14}4.{4}[89ab]/);
    }
  });
});
