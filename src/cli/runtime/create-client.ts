import type { PromptService } from '../../client/client.ts';
import type { RequestEvent } from '../../client/request-options.ts';
import type { Transport } from '../../client/transport.ts';
import type { EmbeddedService } from '../../service/embedded.ts';
import type { Env } from '../../utils/env.ts';
import type { Connection, Context } from '../context.ts';
import { TimeLimitError } from '../core/errors.ts';
import type { ResourceCache } from '../settings/caches/resource-cache.ts';
import { toOneLine } from '../terminal/sanitise.ts';

/** The parts of a context that a client needs. */
export type ClientSources = Pick<Context, 'clock' | 'globals' | 'io' | 'timeLeftMs' | 'version'>;

/**
 * Creates the client of a connection. Its waits end with the command's `--timeout`, and `--debug`
 * shows its requests.
 */
export async function createClient(
  sources: ClientSources,
  address: Pick<Connection, 'baseUrl'>,
  {
    resources,
    ...options
  }: { apiKey: string; resources: ResourceCache; transport: () => Promise<Transport> },
): Promise<PromptService> {
  const { clock, globals, version, timeLeftMs } = sources;
  const { PromptService } = await import('../../client/client.ts');
  return new PromptService({
    ...options,
    baseUrl: address.baseUrl,
    // The address has been checked, and refused unless it is safe.
    insecureHttp: true,
    sleep: async (ms, signal) => {
      if (ms > timeLeftMs()) throw new TimeLimitError(ms);
      await clock.sleep(ms, signal);
    },
    now: () => clock.now(),
    random: () => clock.random(),
    cliAgent: () => resources.getCliAgent(),
    onActionRequire: () => resources.recordActionRequired(),
    userAgent: `promptrun/${version}`,
    errorContext: address,
    ...(globals.debug && {
      eventBodies: globals.debugBody,
      onEvent: (event: RequestEvent) => {
        for (const line of describeRequestEvent(event)) printDebugLine(sources, line);
      },
    }),
  });
}

/** Returns the transport: the embedded service itself, which outlives its clients, or undici. */
export async function openTransport(
  service: EmbeddedService | undefined,
  env: Env,
): Promise<Transport> {
  if (service !== undefined) {
    return {
      request: request => service.request(request),
      owns: url => service.owns(url),
      close: () => Promise.resolve(),
    };
  }
  const [{ createTransport }, { readProxyVariables }] = await Promise.all([
    import('../../client/http/undici-transport.ts'),
    import('../../net/proxy.ts'),
  ]);
  return await createTransport({ shortLived: true, proxy: readProxyVariables(env) });
}

export function printDebugLine({ io, globals }: ClientSources, line: string): void {
  if (globals.debug) io.error(`debug: ${line}`);
}

/** Describes a request event: a line, then one for each header that matters, then the body. */
function describeRequestEvent(event: RequestEvent): string[] {
  const { kind, method, url, attempt, status, ms, waitMs, message, headers = {}, body } = event;
  const outcomes = {
    request: attempt === 1 ? '' : `try ${attempt}`,
    answer: `${status ?? ''} in ${ms ?? 0} ms`,
    failure: `failed after ${ms ?? 0} ms: ${message ?? ''}`,
    retry: `again in ${Math.round(waitMs ?? 0)} ms`,
  };
  return [
    toOneLine(`${method} ${url} ${outcomes[kind]}`.trim()),
    ...Object.entries(headers).map(([name, value]) => toOneLine(`  ${name}: ${value}`)),
    ...(body === undefined ? [] : [toOneLine(`  ${body}`)]),
  ];
}
