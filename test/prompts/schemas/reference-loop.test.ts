import { describe, expect, it } from 'vitest';
import { findReferenceLoop } from '../../../src/prompts/schemas/reference-loop.ts';

describe('a reference that leads back to itself', () => {
  it.each([
    [{ $ref: '#' }, '/$ref'],
    [{ $defs: { a: { $ref: '#/$defs/a' } } }, '/$defs/a/$ref'],
    [
      {
        $ref: '#/$defs/a',
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      },
      '/$defs/b/not/$ref',
    ],
    [{ properties: { a: { if: { $ref: '#/properties/a' } } } }, '/properties/a/if/$ref'],
    [{ items: { $anchor: 'x', allOf: [{ $ref: '#x' }] } }, '/items/allOf/0/$ref'],
    [{ $id: 'https://a.test/s', oneOf: [{ $ref: 's' }] }, '/oneOf/0/$ref'],
    [{ $recursiveRef: '#' }, '/$recursiveRef'],
    [{ 'a/b': { $ref: '#/a~1b' }, properties: { c: { $ref: '#/a~1b' } } }, '/a~1b/$ref'],
    [{ 'a/b': { $ref: '#/a%7E1b' }, properties: { c: { $ref: '#/a%7E1b' } } }, '/a~1b/$ref'],
    [{ dependentSchemas: { a: { $ref: '#' } } }, '/dependentSchemas/a/$ref'],
    [
      {
        $ref: '#/$defs/a/$defs/b',
        $defs: { a: { $id: 'https://a.test/a', $defs: { b: { $ref: '#/$defs/b' } } } },
      },
      '/$defs/a/$defs/b/$ref',
    ],
  ])('is found in %j', (schema, place) => {
    expect(findReferenceLoop(schema)).toBe(place);
  });

  it.each([
    [{ properties: { child: { $ref: '#' } } }],
    [{ type: 'array', items: { $ref: '#' } }],
    [
      {
        $ref: '#/$defs/tree',
        $defs: { tree: { properties: { children: { items: { $ref: '#/$defs/tree' } } } } },
      },
    ],
    [{ allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: { type: 'object' } } }],
    [{ properties: { $ref: { type: 'string' } }, default: { $ref: '#' }, enum: [{ $ref: '#' }] }],
    [{ $ref: 'https://elsewhere.test/' }],
    [{ $ref: '#/none' }],
    [true],
  ])('is not found in %j', schema => {
    expect(findReferenceLoop(schema)).toBeUndefined();
  });
});
