import type { Transport } from '../../client/transport.ts';
import type { EmbeddedService } from '../../service/embedded.ts';
import type { Env } from '../core/types.ts';

/** What carries requests: the embedded service itself, which outlives its clients, or undici. */
export async function openTransport(service: EmbeddedService | undefined, env: Env): Promise<Transport> {
  if (service !== undefined) {
    return {
      request: request => service.request(request),
      owns: url => service.owns(url),
      close: () => Promise.resolve(),
    };
  }
  const { createTransport } = await import('../../client/undici-transport.ts');
  return await createTransport({ shortLived: true, proxy: proxiesOf(env) });
}

/** Lower case wins, as in curl; `HTTP_PROXY` is not taken where a web server could have set it from a header. */
export function proxiesOf(env: Env): { httpsProxy?: string; httpProxy?: string; noProxy?: string } {
  const httpsProxy = env['https_proxy'] || env['HTTPS_PROXY'];
  const httpProxy =
    env['http_proxy'] || (env['REQUEST_METHOD'] === undefined ? env['HTTP_PROXY'] : undefined);
  const noProxy = env['no_proxy'] || env['NO_PROXY'];
  return { ...(httpsProxy && { httpsProxy }), ...(httpProxy && { httpProxy }), ...(noProxy && { noProxy }) };
}
