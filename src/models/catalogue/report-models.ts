import path from 'node:path';
import type { Env } from '../../utils/env.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { isSameAddress } from '../../wire/addresses.ts';
import { findNearShutdown, type Provider } from '../model-entry.ts';
import { findAccessFault } from '../providers/access-fault.ts';
import { listModels } from '../providers/list-models.ts';
import {
  findKeyVariable,
  listConfiguredProviders,
  listKnownProviders,
} from '../providers/providers.ts';
import { explainUnreachable } from './discover-models.ts';
import {
  EMPTY_MODELS_FILE,
  InvalidModelsFileError,
  MODELS_FILE,
  type ModelsFile,
} from './models-file.ts';
import { type ModelSources, readModelsFile } from './read-models-file.ts';

/** The faults of models.yaml and of the providers, found without running a model. */
export type ModelsReport = Awaited<ReturnType<typeof buildModelsReport>>;

interface ReportOptions extends ModelSources {
  readonly signal: AbortSignal;
  readonly asksProviders: boolean;
}

interface ProviderReport {
  readonly name: string;
  readonly baseUrl: string;
  /** The variables for its key, if it requires one and none is set. */
  readonly missingKey?: string;
  /** The reason that the provider does not answer, or can't be reached. */
  readonly fault?: string;
  /** The number of its models, if it answered. */
  readonly models?: number;
}

/**
 * Reads models.yaml and the environment, and asks every provider for its models if
 * `asksProviders` is true.
 */
export async function buildModelsReport({ dataDir, env, signal, asksProviders }: ReportOptions) {
  const faults: string[] = [];
  const modelsFile = await readModelsFile({ dataDir, env }).catch((error: unknown) => {
    faults.push(
      ...(error instanceof InvalidModelsFileError ? error.faults : [getErrorMessage(error)]),
    );
  });
  const describedModels = modelsFile?.content ?? EMPTY_MODELS_FILE;
  faults.push(...describedModels.faults);
  const providers = listUsedProviders(describedModels, env);
  faults.push(...providers.flatMap(({ addressFault }) => addressFault ?? []));
  const usableProviders = providers.filter(({ addressFault }) => addressFault === undefined);

  return {
    file: path.join(dataDir, MODELS_FILE),
    exists: modelsFile?.text !== undefined || faults.length > 0,
    faults,
    providers: await Promise.all(
      usableProviders.map(provider =>
        buildProviderReport(provider, { env, signal, asksProviders }),
      ),
    ),
    shutdowns: describedModels.models.flatMap(entry => findNearShutdown(entry, Date.now()) ?? []),
  };
}

/** Returns the providers in models.yaml, and those with a key or an address in the environment. */
function listUsedProviders({ providers, models }: ModelsFile, env: Env): Provider[] {
  const usedByModels = models.flatMap(({ provider }) => provider ?? []);
  const faultyProviders = listKnownProviders(env).filter(
    ({ addressFault }) => addressFault !== undefined,
  );
  const providersInUse = [
    ...providers,
    ...usedByModels,
    ...listConfiguredProviders(env),
    ...faultyProviders,
  ];

  const isSameProvider = (one: Provider, other: Provider): boolean =>
    one.name === other.name || isSameAddress(one.baseUrl, other.baseUrl);
  return providersInUse.filter(
    (one, index) => providersInUse.findIndex(other => isSameProvider(one, other)) === index,
  );
}

async function buildProviderReport(
  provider: Provider,
  { env, signal, asksProviders }: Omit<ReportOptions, 'dataDir'>,
): Promise<ProviderReport> {
  const { name, baseUrl, keyVariables, needsKey } = provider;
  if (needsKey && findKeyVariable(provider, env) === undefined) {
    return { name, baseUrl, missingKey: keyVariables.join(' or ') };
  }

  const fault = findAccessFault(provider, env)?.message;
  const isAsked = asksProviders && provider.listsModels !== false;
  if (fault !== undefined || !isAsked) {
    return { name, baseUrl, ...(fault === undefined ? {} : { fault }) };
  }

  try {
    const { models } = await listModels(provider, env, signal);
    return { name, baseUrl, models: models.length };
  } catch (error) {
    signal.throwIfAborted();
    return { name, baseUrl, fault: explainUnreachable(error) };
  }
}

/**
 * Lists every provider that a model's name may begin with: those in models.yaml, then the known
 * ones.
 *
 * @throws {InvalidModelsFileError} if models.yaml can't be read
 */
export async function listProviders({ dataDir, env }: ModelSources) {
  const { content } = await readModelsFile({ dataDir, env });
  const { providers, faults } = content;
  const isKnownOnly = ({ name }: Provider): boolean =>
    !providers.some(provider => provider.name === name);
  const listedProviders = [...providers, ...listKnownProviders(env).filter(isKnownOnly)].map(
    provider => ({
      name: provider.name,
      baseUrl: provider.baseUrl,
      engine: provider.interfaceName,
      keyVariables: provider.keyVariables,
      keySet: findKeyVariable(provider, env) !== undefined,
      /** The variable that holds the key; null if none is set. */
      keySetBy: findKeyVariable(provider, env) ?? null,
      /** The fault that prevents requests; null if there is none. */
      fault: findAccessFault(provider, env)?.message ?? null,
    }),
  );

  return { providers: listedProviders, faults };
}
