import type { Transport, TransportOptions } from '../client/transport.ts';
import type { Env } from './context.ts';

/** Loads what sends requests when the first one is made: some commands make none. */
export function lazyTransport(options: TransportOptions): Transport {
  let loading: Promise<Transport> | undefined;
  const load = async (): Promise<Transport> => {
    const { createTransport } = await import('../client/transport.ts');
    return createTransport(options);
  };
  return {
    request: async request => (await (loading ??= load())).request(request),
    // The request that loaded it told the fault.
    close: async () => (await loading?.catch(() => undefined))?.close(),
  };
}

/** Lower case wins, as in curl; `HTTP_PROXY` is not taken where a web server could have set it from a header. */
export function proxiesOf(env: Env): { httpsProxy?: string; httpProxy?: string; noProxy?: string } {
  const httpsProxy = env['https_proxy'] || env['HTTPS_PROXY'];
  const httpProxy =
    env['http_proxy'] || (env['REQUEST_METHOD'] === undefined ? env['HTTP_PROXY'] : undefined);
  const noProxy = env['no_proxy'] || env['NO_PROXY'];
  return { ...(httpsProxy && { httpsProxy }), ...(httpProxy && { httpProxy }), ...(noProxy && { noProxy }) };
}
