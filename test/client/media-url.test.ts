import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../../src/client/errors.ts';
import { checkMediaUrl } from '../../src/client/media-url.ts';

const PUBLIC = 'https://service.example/v1';
const LOCAL = 'http://127.0.0.1:8787/v1';
const PRIVATE = 'http://10.0.0.5:8080/v1';

describe('checkMediaUrl', () => {
  it('allows a file that the transport owns, but no other file, and no redirect to one', () => {
    const ownFile = 'file:///data/media/a.png';
    const owns = (url: URL): boolean => url.href === ownFile;

    expect(checkMediaUrl(ownFile, { baseUrl: LOCAL, owns }).href).toBe(ownFile);
    expect(() => checkMediaUrl('file:///etc/passwd', { baseUrl: LOCAL, owns })).toThrow(
      ProtocolError,
    );
    expect(() => checkMediaUrl(ownFile, { baseUrl: LOCAL })).toThrow(ProtocolError);

    const from = new URL('http://127.0.0.1:8787/b.png');
    expect(() => checkMediaUrl(ownFile, { baseUrl: LOCAL, owns, redirectedFrom: from })).toThrow(
      ProtocolError,
    );
  });

  it.each([
    [PUBLIC, 'https://cdn.example/a.png?signature=x'],
    [PUBLIC, 'https://service.example/media/a.png'],
    [PUBLIC, 'https://8.8.8.8/a.png'],
    [PUBLIC, 'https://[2606:4700::1]/a.png'],
    [PUBLIC, 'https://172.32.0.1/a.png'],
    [LOCAL, 'http://127.0.0.1:8787/media/a.png'],
    [LOCAL, 'http://localhost:9999/a.png'],
    [LOCAL, 'http://[::1]:9999/a.png'],
    [LOCAL, 'https://cdn.example/a.png'],
    [LOCAL, 'https://127.0.0.1:9999/a.png'],
    [PRIVATE, 'http://10.0.0.5:8080/media/a.png'],
    [PRIVATE, 'https://10.0.0.6/a.png'],
  ])('a service at %s may name %s', (baseUrl, url) => {
    expect(checkMediaUrl(url, { baseUrl }).href).toBe(url);
  });

  it.each([
    [PUBLIC, 'http://cdn.example/a.png'],
    [PUBLIC, 'http://service.example/a.png'],
    [PUBLIC, 'http://127.0.0.1/a.png'],
    [PUBLIC, 'https://127.0.0.1/a.png'],
    [PUBLIC, 'https://localhost/a.png'],
    [PUBLIC, 'https://localhost./a.png'],
    [PUBLIC, 'https://x.localhost/a.png'],
    [PUBLIC, 'https://0x7f.1/a.png'],
    [PUBLIC, 'https://2130706433/a.png'],
    [PUBLIC, 'https://10.1.2.3/a.png'],
    [PUBLIC, 'https://172.16.0.1/a.png'],
    [PUBLIC, 'https://192.168.1.1/a.png'],
    [PUBLIC, 'https://169.254.169.254/latest/meta-data'],
    [PUBLIC, 'https://100.64.0.1/a.png'],
    [PUBLIC, 'https://0.0.0.0/a.png'],
    [PUBLIC, 'https://[::1]/a.png'],
    [PUBLIC, 'https://[::ffff:127.0.0.1]/a.png'],
    [PUBLIC, 'https://[fe80::1]/a.png'],
    [PUBLIC, 'https://[fd00::1]/a.png'],
    [PUBLIC, 'https://[2002:7f00:1::]/a.png'],
    [PUBLIC, 'https://user:password@cdn.example/a.png'],
    [PUBLIC, 'file:///etc/passwd'],
    [PUBLIC, 'ftp://cdn.example/a.png'],
    [PUBLIC, 'data:image/png;base64,AAAA'],
    [PUBLIC, 'javascript:alert(1)'],
    [PUBLIC, 'a.png'],
    [PUBLIC, ''],
    [LOCAL, 'http://cdn.example/a.png'],
    [LOCAL, 'http://127.evil.example/a.png'],
    ['http://127.evil.example/v1', 'http://localhost:8787/a.png'],
    [LOCAL, 'http://10.0.0.1/a.png'],
    [PRIVATE, 'http://10.0.0.6/a.png'],
    [PRIVATE, 'http://127.0.0.1/a.png'],
  ])('a service at %s may not name %s', (baseUrl, url) => {
    expect(() => checkMediaUrl(url, { baseUrl })).toThrow(ProtocolError);
  });

  it('resolves a redirect against the URL that it came from', () => {
    const from = new URL('https://cdn.example/a/b.png');
    expect(checkMediaUrl('../c.png', { baseUrl: PUBLIC, redirectedFrom: from }).href).toBe(
      'https://cdn.example/c.png',
    );
  });

  it('never lets a redirect leave https', () => {
    const from = new URL('https://localhost:1/a.png');
    expect(() =>
      checkMediaUrl('http://127.0.0.1:8787/a.png', { baseUrl: LOCAL, redirectedFrom: from }),
    ).toThrow(/plain http/);
  });

  it('names a refused URL without its query, which may hold a signature', () => {
    const url = 'http://cdn.example/a.png?signature=secret';
    expect(() => checkMediaUrl(url, { baseUrl: PUBLIC })).toThrow(
      /http:\/\/cdn\.example\/a\.png is not fetched/,
    );
    expect(() => checkMediaUrl(url, { baseUrl: PUBLIC })).not.toThrow(/secret/);
  });
});
