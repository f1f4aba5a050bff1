import { describe, expect, it } from 'vitest';
import {
  checkProxies,
  findProxy,
  ProxySettingError,
  readProxyVariables,
} from '../../src/net/proxy.ts';

describe('the proxies of an environment', () => {
  it('are those of the lower-case variables first', () => {
    expect(
      readProxyVariables({ HTTPS_PROXY: 'p:1', https_proxy: 'r:3', NO_PROXY: 'a', no_proxy: '' }),
    ).toEqual({
      httpsProxy: 'r:3',
      noProxy: 'a',
    });
  });

  it('do not include HTTP_PROXY in a CGI script, because a header sets it', () => {
    expect(readProxyVariables({ HTTP_PROXY: 'p:1', REQUEST_METHOD: 'GET' })).toEqual({});
    expect(readProxyVariables({ http_proxy: 'p:1', REQUEST_METHOD: 'GET' })).toEqual({
      httpProxy: 'p:1',
    });
  });
});

describe('the proxy for a URL', () => {
  const proxies = { httpsProxy: 'p:1', httpProxy: 'http://q:2' };
  const findProxyHref = (url: string, noProxy = ''): string | undefined =>
    findProxy(new URL(url), { ...proxies, noProxy })?.href;

  it('is that of its scheme', () => {
    expect(findProxyHref('https://far.example/')).toBe('http://p:1/');
    expect(findProxyHref('http://far.example/')).toBe('http://q:2/');
    expect(findProxy(new URL('https://far.example/'), { httpProxy: 'q:2' })).toBeUndefined();
    expect(findProxy(new URL('https://far.example/'), { httpsProxy: ' ' })).toBeUndefined();
  });

  it.each([
    ['other, .example', undefined],
    ['*.example', undefined],
    ['far.example:443', undefined],
    ['FAR.example', undefined],
    ['*', undefined],
    ['far.example:8443', 'http://p:1/'],
    ['ar.example', 'http://p:1/'],
    ['', 'http://p:1/'],
  ])('with NO_PROXY=%s is %s', (noProxy, expected) => {
    expect(findProxyHref('https://far.example/v1', noProxy)).toBe(expected);
  });

  it.each(['[::1]', '[::1]:8000', '::1', 'localhost,::1'])(
    'is not used for an IPv6 address with NO_PROXY=%s',
    noProxy => {
      expect(findProxyHref('http://[::1]:8000/', noProxy)).toBeUndefined();
      expect(findProxyHref('http://[::2]:8000/', noProxy)).toBe('http://q:2/');
    },
  );
});

describe("a proxy that can't be used", () => {
  it.each(['socks5://user:secret@127.0.0.1:1080', 'socks://user:secret@x', 'ftp://user:secret@x'])(
    'of %s is refused by its kind, its password not repeated',
    url => {
      const refuse = (): unknown => checkProxies({ httpsProxy: url });
      expect(refuse).toThrow(ProxySettingError);
      expect(refuse).toThrow(
        /HTTPS_PROXY uses (socks5|socks|ftp):, which is not supported; give an http:\/\/ or/,
      );
      expect(refuse).not.toThrow(/secret/);
    },
  );

  it('is refused if it is not a URL', () => {
    expect(() => checkProxies({ httpProxy: 'http://user:secret@[' })).toThrow(
      'the proxy in HTTP_PROXY is not a URL; give it as http://host:port',
    );
  });
});
