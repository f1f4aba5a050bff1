import path from 'node:path';
import { messageOf } from '../../files/error-utils.ts';
import type { Env } from '../outgoing/proxy.ts';
import { reasonOf } from './discover.ts';
import { askForModels } from './endpoints.ts';
import type { Provider } from './entry.ts';
import { environmentProvider, OPENAI } from './environment.ts';
import { parseModelsFile } from './file.ts';
import {
  EMPTY_MODELS_FILE,
  InvalidModelsFile,
  MODELS_FILE,
  type ModelsFile,
  readModelsText,
} from './models-file.ts';

/** What is wrong with the models of other endpoints before any is run. */
export interface ModelsReport {
  /** Where models.yaml lies, or would. */
  readonly file: string;
  readonly exists: boolean;
  /** Of the file, each as `file:line: what`, and of `OPENAI_BASE_URL`. */
  readonly faults: readonly string[];
  readonly providers: readonly ProviderReport[];
}

export interface ProviderReport {
  readonly name: string;
  readonly baseUrl: string;
  /** The variable that must hold its key, where it needs one and there is none. */
  readonly missingKey?: string;
  /** Why it does not answer; only where it was asked. */
  readonly fault?: string;
  /** How many models it has; only where it was asked and answered. */
  readonly models?: number;
}

/** Reads models.yaml and what the environment says, and asks every provider for its models unless `ask` is false. */
export async function reportModels(options: {
  readonly dataDir: string;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly ask: boolean;
}): Promise<ModelsReport> {
  const { dataDir, env, signal, ask } = options;
  const file = path.join(dataDir, MODELS_FILE);
  const faults: string[] = [];
  const environment = withFaults(faults, () => environmentProvider(env));
  const text = await readModelsText(file).catch((error: unknown) => void faults.push(messageOf(error)));
  const described =
    withFaults(faults, () => describedIn(text ?? undefined, file, environment)) ?? EMPTY_MODELS_FILE;
  const providers = providersOf(described, environment).map(provider =>
    reportProvider(provider, { env, signal, ask }),
  );
  return {
    file,
    exists: typeof text === 'string' || faults.length > 0,
    faults,
    providers: await Promise.all(providers),
  };
}

function describedIn(text: string | undefined, file: string, environment: Provider | undefined): ModelsFile {
  return text === undefined ? EMPTY_MODELS_FILE : parseModelsFile(text, file, [environment ?? OPENAI]);
}

function withFaults<T>(faults: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    faults.push(...(error instanceof InvalidModelsFile ? error.faults : [messageOf(error)]));
    return undefined;
  }
}

function providersOf({ providers, models }: ModelsFile, environment: Provider | undefined): Provider[] {
  const used = models.flatMap(({ provider }) => provider ?? []);
  const all = [...providers, ...used, ...(environment ? [environment] : [])];
  return all.filter((one, index) => all.findIndex(({ name }) => name === one.name) === index);
}

async function reportProvider(
  provider: Provider,
  { env, signal, ask }: { env: Env; signal: AbortSignal; ask: boolean },
): Promise<ProviderReport> {
  const { name, baseUrl, apiKeyEnv } = provider;
  if (apiKeyEnv !== undefined && !env[apiKeyEnv]?.trim()) return { name, baseUrl, missingKey: apiKeyEnv };
  if (!ask) return { name, baseUrl };
  try {
    const { models } = await askForModels(provider, env, signal);
    return { name, baseUrl, models: models.length };
  } catch (error) {
    signal.throwIfAborted();
    return { name, baseUrl, fault: reasonOf(error) };
  }
}
