import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from '../../src/client/errors.ts';
import { staysBelowBase } from '../../src/client/http/base-url.ts';
import { urlPath } from '../../src/client/url-path.ts';

describe('urlPath', () => {
  it('fills a segment with each value', () => {
    expect(urlPath`/runs/${'a'}/outputs/${'b'}`).toBe('/runs/a/outputs/b');
    expect(urlPath`/runs/${'a b?c#d&e=ü'}`).toBe('/runs/a%20b%3Fc%23d%26e%3D%C3%BC');
  });

  it.each([
    '',
    '.',
    '..',
    'a/b',
    '../me',
    'a\\b',
    '%2e%2e',
    '%2E.',
    '%252e%252e',
    '..%2fme',
    'a%5cb',
    '%25252f',
    '\uD800',
  ])('refuses %j', value => {
    expect(() => urlPath`/runs/${value}`).toThrow(InvalidRequestError);
  });

  it('keeps any value it takes in its own segment', () => {
    const codeUnit = fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code));
    const unit = fc.oneof(fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '?', '#'), codeUnit);
    fc.assert(
      fc.property(fc.string({ unit }), value => {
        let builtPath: string;
        try {
          builtPath = urlPath`/runs/${value}/end`;
        } catch (error) {
          return error instanceof InvalidRequestError;
        }

        const { pathname, search, hash } = new URL(`http://loopback/v1${builtPath}`);
        const parts = pathname.split('/');

        return (
          parts.length === 5 &&
          parts[4] === 'end' &&
          decodeURIComponent(parts[3] ?? '') === value &&
          !search &&
          !hash
        );
      }),
    );
  });
});

describe('staysBelowBase', () => {
  it.each(['/runs', '/runs?limit=1', '/runs/', '/a.b/..c', '/runs?next=/../x'])(
    'takes %j',
    urlPath => {
      expect(staysBelowBase(urlPath)).toBe(true);
    },
  );

  it.each([
    'runs',
    '',
    '/..',
    '/../admin',
    '/runs/../../admin',
    '/%2e%2e/admin',
    '/.%2E/x',
    '/a\\..\\x',
    '@host/',
    '/./x',
  ])('refuses %j', urlPath => {
    expect(staysBelowBase(urlPath)).toBe(false);
  });

  it('agrees with what a URL makes of the path', () => {
    const segment = fc.oneof(
      fc.constantFrom('.', '..', '%2e', '%2E%2e', '', 'a', '%2f', '?', '#', '\\'),
      fc.webSegment(),
    );
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), parts => {
        const urlPath = `/${parts.join('/')}`;
        const { href, origin } = new URL(`https://service.test/v1${urlPath}`);
        return (
          !staysBelowBase(urlPath) ||
          (origin === 'https://service.test' && href.startsWith('https://service.test/v1/'))
        );
      }),
    );
  });
});
