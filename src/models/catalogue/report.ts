import path from 'node:path';
import { messageOf } from '../../files/error-utils.ts';
import { variablesOf } from '../declared.ts';
import { type Provider, shutdownOf } from '../entry.ts';
import type { Env } from '../outgoing/proxy.ts';
import { askForModels } from '../providers/endpoints.ts';
import {
  accessFault,
  configuredProviders,
  keyVariable,
  knownProviders,
  sameEndpoint,
} from '../providers/providers.ts';
import { reasonOf } from './discover.ts';
import { type ModelsPlace, readModelsFile, readNamedModels } from './file.ts';
import {
  EMPTY_MODELS_FILE,
  InvalidModelsFile,
  MODELS_FILE,
  type ModelsFile,
  mergedModels,
} from './models-file.ts';

/** What is wrong with the models of other endpoints before any is run. */
export type ModelsReport = Awaited<ReturnType<typeof reportModels>>;

interface ReportOptions extends ModelsPlace {
  readonly signal: AbortSignal;
  readonly ask: boolean;
}

interface ProviderReport {
  readonly name: string;
  readonly baseUrl: string;
  /** The variables that may hold its key, if it needs one and there is none. */
  readonly missingKey?: string;
  /** Why it does not answer, or can't be asked. */
  readonly fault?: string;
  /** How many models it has; only if it was asked and answered. */
  readonly models?: number;
}

/** Reads models.yaml and what the environment says, and asks every provider for its models unless `ask` is false. */
export async function reportModels({ dataDir, env, signal, ask }: ReportOptions) {
  const faults: string[] = [];
  const read = await readModelsFile({ dataDir, env }).catch((error: unknown) => {
    faults.push(...(error instanceof InvalidModelsFile ? error.faults : [messageOf(error)]));
  });
  const described = read?.described ?? EMPTY_MODELS_FILE;
  faults.push(...described.faults);
  const all = providersOf(described, env);
  faults.push(...all.flatMap(({ fault }) => fault ?? []));
  const usable = all.filter(({ fault }) => fault === undefined);
  return {
    file: path.join(dataDir, MODELS_FILE),
    exists: read?.text !== undefined || faults.length > 0,
    faults,
    providers: await Promise.all(usable.map(provider => reportProvider(provider, { env, signal, ask }))),
    shutdowns: described.models.flatMap(entry => shutdownOf(entry, Date.now()) ?? []),
  };
}

/** Those that are described or used, and those that the environment has a key or an address for. */
function providersOf({ providers, models }: ModelsFile, env: Env): Provider[] {
  const used = models.flatMap(({ provider }) => provider ?? []);
  const moved = knownProviders(env).filter(({ fault }) => fault !== undefined);
  const all = [...providers, ...used, ...configuredProviders(env), ...moved];
  const isSame = (one: Provider, other: Provider): boolean =>
    one.name === other.name || sameEndpoint(one.baseUrl, other.baseUrl);
  return all.filter((one, index) => all.findIndex(other => isSame(one, other)) === index);
}

async function reportProvider(
  provider: Provider,
  { env, signal, ask }: Omit<ReportOptions, 'dataDir'>,
): Promise<ProviderReport> {
  const { name, baseUrl, keyVariables, needsKey } = provider;
  if (needsKey && keyVariable(provider, env) === undefined) {
    return { name, baseUrl, missingKey: keyVariables.join(' or ') };
  }
  const fault = accessFault(provider, env)?.message;
  const isAsked = ask && provider.listsModels !== false;
  if (fault !== undefined || !isAsked) return { name, baseUrl, ...(fault === undefined ? {} : { fault }) };
  try {
    const { models } = await askForModels(provider, env, signal);
    return { name, baseUrl, models: models.length };
  } catch (error) {
    signal.throwIfAborted();
    return { name, baseUrl, fault: reasonOf(error) };
  }
}

/**
 * Every provider that a model's name may begin with: those that models.yaml describes, then the known ones.
 *
 * @throws {InvalidModelsFile} for a models.yaml that can't be read
 */
export async function listProviders({ dataDir, env }: ModelsPlace) {
  const { described } = await readModelsFile({ dataDir, env });
  const { providers, faults } = described;
  const isKnownOnly = ({ name }: Provider): boolean => !providers.some(one => one.name === name);
  const listed = [...providers, ...knownProviders(env).filter(isKnownOnly)].map(provider => ({
    name: provider.name,
    baseUrl: provider.baseUrl,
    engine: provider.engine,
    keyVariables: provider.keyVariables,
    keySet: keyVariable(provider, env) !== undefined,
    /** The variable that is set; null if none is. */
    keySetBy: keyVariable(provider, env) ?? null,
    /** What keeps it from being asked; null if nothing does. */
    fault: accessFault(provider, env)?.message ?? null,
  }));
  return { providers: listed, faults };
}

/** The names of all variables that may hold the key of a provider; of models.yaml as far as it can be read. */
export async function keyVariables(place: ModelsPlace): Promise<readonly string[]> {
  const known = knownProviders(place.env);
  const { described: base } = await readModelsFile(place).catch(() => ({ described: EMPTY_MODELS_FILE }));
  const { providers, models } = mergedModels(base, await readNamedModels(place, base, known));
  return [
    ...new Set([
      ...[...providers, ...known].flatMap(provider => provider.keyVariables),
      ...models.flatMap(({ declared }) => (declared ? variablesOf(declared) : [])),
    ]),
  ];
}
