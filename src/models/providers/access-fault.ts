import type { Env } from '../../utils/env.ts';
import type { Provider } from '../model-entry.ts';
import { findKeyVariable, isLoopback } from './providers.ts';

/** A fault that prevents requests to a provider. */
export interface AccessFault {
  /** `missing` if the provider has no key or no address, `invalid` if one can't be used. */
  readonly kind: 'missing' | 'invalid';
  readonly message: string;
}

/** Returns the fault that prevents requests to a provider; undefined if there is none. */
export function findAccessFault(provider: Provider, env: Env): AccessFault | undefined {
  const { name, baseUrl, needsKey, missingVariables, addressFault } = provider;
  if (addressFault !== undefined) return { kind: 'invalid', message: addressFault };

  const variable = findKeyVariable(provider, env);
  if (variable === undefined && needsKey) {
    return { kind: 'missing', message: describeMissingKey(provider) };
  }

  if (missingVariables) {
    return {
      kind: 'missing',
      message: `no address for ${name}: set ${missingVariables.join(' or ')}`,
    };
  }

  if (variable === undefined) return undefined;

  if (!/^[\x21-\x7e]+$/.test(env[variable]?.trim() ?? '')) {
    return {
      kind: 'invalid',
      message: `the key in ${variable} can't be sent: it contains a space, a line break or something else that is not visible ASCII`,
    };
  }

  if (!isUnencrypted(baseUrl)) return undefined;

  return {
    kind: 'invalid',
    message: `the key of ${name} would travel in the clear to ${new URL(baseUrl).hostname}: give it an address that begins with https://`,
  };
}

/** Names everything that the provider lacks before a key can be sent to it. */
function describeMissingKey({ name, baseUrl, keyVariables, missingVariables }: Provider): string {
  const key = `no key for ${name}: set ${keyVariables.join(' or ')}`;
  if (missingVariables) return `${key}, and ${missingVariables.join(' or ')}`;
  return isUnencrypted(baseUrl)
    ? `${key}, and give ${name} an address that begins with https://`
    : key;
}

function isUnencrypted(baseUrl: string): boolean {
  return new URL(baseUrl).protocol === 'http:' && !isLoopback(baseUrl);
}
