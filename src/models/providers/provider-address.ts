import { isIP } from 'node:net';
import type { Env } from '../../utils/env.ts';
import { withoutTrailingSlashes } from '../../wire/addresses.ts';
import type { ProviderData } from './provider-data.ts';

/** A provider's address from the environment. */
export interface ProviderAddress {
  readonly baseUrl: string;
  /** True if the address differs from the provider's own. */
  readonly isCustom: boolean;
  /** The variable that sets it; absent if none does. */
  readonly variable?: string;
  /** Variables that would complete the address; any one of them is enough. */
  readonly missingVariables?: readonly string[];
  /** The reason that the address can't be used; names the variable that sets it. */
  readonly fault?: string;
}

/** The ports of `OLLAMA_HOST` without one, by scheme; Ollama's own if it has no scheme either. */
const OLLAMA_PORT_BY_SCHEME: ReadonlyMap<string, string> = new Map([
  ['', '11434'],
  ['http', '80'],
  ['https', '443'],
]);

/** Matches a label of a host name, such as `my-resource`. */
const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Returns a provider's address from the environment, else its own. */
export function resolveProviderAddress(data: ProviderData, env: Env): ProviderAddress {
  const variable = `${(data.addressVariablePrefix ?? data.name).toUpperCase()}_BASE_URL`;
  const address = env[variable]?.trim();
  if (address) return toMovedAddress(address, variable, data);

  const host =
    data.name === 'ollama'
      ? env['OLLAMA_HOST']?.replace(/^["'\s]+|(?<!["'\s])["'\s]+$/g, '')
      : undefined;
  return host ? parseOllamaHost(host, data) : fillPlaceholder(data, variable, env);
}

function toMovedAddress(address: string, variable: string, data: ProviderData): ProviderAddress {
  const fault = findBaseUrlFault(address);
  if (fault !== undefined) {
    return { baseUrl: address, isCustom: true, variable, fault: `${variable} ${fault}` };
  }
  const baseUrl = normaliseBaseUrl(address, data);
  return { baseUrl, isCustom: baseUrl !== data.baseUrl, variable };
}

/**
 * Returns an address with the path of its interface. The tools of some providers expect it with
 * that path, others without.
 */
export function normaliseBaseUrl(
  address: string,
  { interfaceName, name, baseUrl }: Pick<ProviderData, 'interfaceName' | 'name' | 'baseUrl'>,
): string {
  const plainAddress = withoutTrailingSlashes(address);
  const { pathname } = new URL(plainAddress);
  if (interfaceName === 'anthropic') return plainAddress.replace(/(?<!\/)\/+v1$/, '');
  if (interfaceName === 'azure' && pathname === '/openai') return `${plainAddress}/v1`;
  if (name === 'openai' || pathname !== '/' || baseUrl === '') return plainAddress;
  const path = baseUrl.replace(/^[a-z]+:\/\/[^/]+/, '');
  return `${plainAddress}${path}`;
}

/** Fills the placeholder of an address from the environment. */
function fillPlaceholder({ baseUrl }: ProviderData, variable: string, env: Env): ProviderAddress {
  const neededVariable = /\{(\w+)\}/.exec(baseUrl)?.[1];
  if (neededVariable === undefined) return { baseUrl, isCustom: false };

  const value = env[neededVariable]?.trim();
  if (!value) return { baseUrl, isCustom: false, missingVariables: [neededVariable, variable] };

  if (!HOST_LABEL.test(value)) {
    return {
      baseUrl,
      isCustom: false,
      fault: `${neededVariable} must be a name of letters, digits and hyphens`,
    };
  }

  return { baseUrl: baseUrl.replace(`{${neededVariable}}`, value), isCustom: false };
}

/**
 * Reads `OLLAMA_HOST` as Ollama itself does: `host`, `:port`, `host:port`, an IP address or a URL
 * with a path.
 */
function parseOllamaHost(hostText: string, { baseUrl }: ProviderData): ProviderAddress {
  const [, scheme = '', rest = ''] = /^(?:([^/:]*):\/\/)?(.*)$/s.exec(hostText) ?? [];
  const [hostPort = '', ...path] = withoutTrailingSlashes(rest).split('/');
  const { host, port } = splitHostPort(hostPort, OLLAMA_PORT_BY_SCHEME.get(scheme) ?? '');
  const root = `${scheme || 'http'}://${host}:${port}`;
  const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 65535;
  const fault = isPort || port === '' ? findHostFault(root) : 'has an invalid port';
  const variable = 'OLLAMA_HOST';
  if (fault !== undefined) {
    return { baseUrl, isCustom: true, variable, fault: `${variable} ${fault}` };
  }

  const parentPath = ['', ...path].join('/').replace(/\/v1$/, '');
  const movedUrl = `${new URL(root).origin}${parentPath}/v1`;
  return { baseUrl: movedUrl, isCustom: movedUrl !== baseUrl, variable };
}

function findHostFault(root: string): string | undefined {
  return findBaseUrlFault(root) === undefined
    ? undefined
    : 'must be a host, a port such as :11434, host:port, or an http or https URL';
}

/** Splits a host and its port. Replaces an address that stands for all interfaces by loopback. */
function splitHostPort(hostPort: string, defaultPort: string): { host: string; port: string } {
  const bareHost = hostPort.replace(/^\[(.*)\]$/, '$1');
  const colon = isIP(bareHost) === 6 ? -1 : hostPort.lastIndexOf(':');
  const host = colon < 0 ? bareHost : hostPort.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  const port = (colon >= 0 && hostPort.slice(colon + 1)) || defaultPort;
  if (host === '' || host === '0.0.0.0') return { host: '127.0.0.1', port };
  if (host === '::') return { host: '[::1]', port };
  return { host: isIP(host) === 6 ? `[${host}]` : host, port };
}

/** Returns the fault of a base URL, as a sentence without its subject; undefined if it is valid. */
export function findBaseUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return 'must be an http or https URL, such as https://host/v1';
  }
  if (url.username !== '' || url.password !== '') return "can't contain a user name or password";
  return url.search === '' && url.hash === '' ? undefined : "can't contain ? or #";
}
