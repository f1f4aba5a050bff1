import { withoutUndefined } from '../../files/formats/json.ts';
import type { Env } from '../../utils/env.ts';
import { isLoopbackHost } from '../../wire/addresses.ts';
import type { InterfaceName, Provider } from '../model-entry.ts';
import { resolveProviderAddress } from './provider-address.ts';
import { PROVIDERS, type ProviderData } from './provider-data.ts';

/** Returns the known providers with the addresses of the environment, in display order. */
export function listKnownProviders(env: Env): readonly Provider[] {
  return PROVIDERS.map(data => createProvider(data, env));
}

/** Returns the name of the known provider that a prefix stands for, or the prefix itself. */
export function resolveProviderName(prefix: string): string {
  return PROVIDERS.find(({ aliases }) => aliases?.includes(prefix))?.name ?? prefix;
}

/** Splits `prefix/id` at its first slash; returns undefined for a name without one. */
export function splitProviderPrefix(name: string): { prefix: string; id: string } | undefined {
  const slash = name.indexOf('/');
  return slash < 0 ? undefined : { prefix: name.slice(0, slash), id: name.slice(slash + 1) };
}

export function findProviderData(name: string): ProviderData | undefined {
  return PROVIDERS.find(data => data.name === name);
}

function createProvider(data: ProviderData, env: Env): Provider {
  const { name, keyVariables = [], takesBatches = false, listsModels = true } = data;
  const { baseUrl, isCustom, variable, missingVariables, fault } = resolveProviderAddress(
    data,
    env,
  );
  return withoutUndefined({
    name,
    baseUrl,
    interfaceName: pickInterface(data, baseUrl),
    keyVariables,
    needsKey: keyVariables.length > 0 && !isLoopback(baseUrl),
    takesBatches,
    listsModels,
    addressName: variable ?? 'its address',
    hasCustomBaseUrl: isCustom || undefined,
    missingVariables,
    addressFault: fault,
  });
}

/** Returns the interface of a known provider at an address. */
export function pickInterface(
  { interfaceName, takesChatAt }: ProviderData,
  baseUrl: string,
): InterfaceName {
  return URL.canParse(baseUrl) && takesChatAt?.(new URL(baseUrl)) ? 'openai' : interfaceName;
}

/** Returns true if the address is one of this machine. */
export function isLoopback(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && isLoopbackHost(new URL(baseUrl).hostname);
}

/** Returns the trimmed key of a provider; undefined if none of its variables holds one. */
export function readProviderKey({ keyVariables }: Provider, env: Env): string | undefined {
  const variable = findKeyVariable({ keyVariables }, env);
  return variable === undefined ? undefined : env[variable]?.trim();
}

/** Returns the variable that holds the key of a provider; undefined if none does. */
export function findKeyVariable(
  { keyVariables }: Pick<Provider, 'keyVariables'>,
  env: Env,
): string | undefined {
  return keyVariables.find(name => Boolean(env[name]?.trim()));
}

/**
 * Returns the known providers with a key, with an address that needs none, or with a fault in their
 * variables.
 */
export function listConfiguredProviders(env: Env): readonly Provider[] {
  return listKnownProviders(env).filter(provider => {
    const { keyVariables, hasCustomBaseUrl = false, needsKey, addressFault } = provider;
    const isUsable =
      findKeyVariable(provider, env) !== undefined || (hasCustomBaseUrl && !needsKey);
    return keyVariables.length > 0 && (isUsable || addressFault !== undefined);
  });
}
