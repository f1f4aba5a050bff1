import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Model, RunOption } from '../../../wire/index.ts';
import { isObject, type JsonObject, listOf } from '../../core/json-value.ts';
import type { Clock } from '../../core/types.ts';
import { type AddressSources, resolveAddress, serviceOf } from '../config/address.ts';
import { resolveKey } from '../credentials/resolve-key.ts';
import { JsonFile } from '../json-file.ts';
import { readCacheFile } from './cache-file.ts';

/** The models of one service as one account sees them. */
export interface ResourceEntry {
  /** Base URL and key fingerprint in one (see `resourceScope`). */
  readonly scope: string;
  /** As the service gave it. */
  readonly hash: string;
  /** As the service gave them. */
  readonly models: readonly unknown[];
  /** ISO 8601. */
  readonly fetchedAt: string;
  /**
   * The form of `cli-agent` that the service wants: `resources_hash=<hash>`, or neither this nor the bare hash; the bare
   * hash if undefined.
   */
  readonly agentForm?: 'named' | 'neither';
}

export const RESOURCES_FILE = 'resources.json';
/** The embedded service's scope: its key dies with each process, its models don't. */
export const LOCAL_SCOPE = 'local';
const MOST_ENTRIES = 20;

/** Names one account at one service without giving its key away. */
export function resourceScope(baseUrl: string, apiKey: string): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32);
}

/** What is cached under a scope. */
export function readEntry(file: string, scope: string): ResourceEntry | undefined {
  return readEntries(file).find(entry => entry.scope === scope);
}

/**
 * Puts an entry first, and drops the one not renewed for longest once there are 20.
 *
 * @throws {CliError} CONFIG_ERROR as `JsonFile` throws it
 */
export async function writeEntry(
  file: string,
  entry: ResourceEntry,
  clock: Pick<Clock, 'sleep' | 'random'>,
): Promise<void> {
  // A damaged cache holds nothing that is worth keeping.
  if (readEntries(file).length === 0) rmSync(file, { force: true });
  await new JsonFile(file, clock, document => document).update(document => {
    const others = entriesIn(document).filter(({ scope }) => scope !== entry.scope);
    document['services'] = [entry, ...others].slice(0, MOST_ENTRIES);
  });
}

function readEntries(file: string): ResourceEntry[] {
  return entriesIn(readCacheFile(file));
}

function entriesIn(document: JsonObject): ResourceEntry[] {
  return listOf(document['services']).filter(isEntry);
}

function isEntry(entry: unknown): entry is ResourceEntry {
  return (
    isObject(entry) &&
    ['scope', 'hash', 'fetchedAt'].every(field => typeof entry[field] === 'string') &&
    Array.isArray(entry['models'])
  );
}

/**
 * What is cached for the service and key in force, and where; starts nothing and sends nothing.
 *
 * @param askKeychain whether the system's keychain may be asked for the key, which may ask the user
 * @throws {CliError} CONFIG_ERROR as `resolveAddress` and `resolveKey`
 */
export async function cachedResources(sources: AddressSources, askKeychain = true) {
  const address = resolveAddress(sources);
  const service = serviceOf(address);
  const scope = address.embedded
    ? LOCAL_SCOPE
    : resourceScope(service, (await resolveKey(sources, address, askKeychain)).value);
  const file = path.join(sources.settings.directory, RESOURCES_FILE);
  return { file, service, cached: readEntry(file, scope) };
}

/** Models without what is not of the interface's form, so that a hostile answer does no harm. */
export function wellFormedModels(models: readonly unknown[]): Model[] {
  return models
    .filter(isObject)
    .filter(model => typeof model['model'] === 'string')
    .map(
      model => ({ ...model, availableRunOptions: wellFormedOptions(model['availableRunOptions']) }) as Model,
    );
}

function wellFormedOptions(options: unknown): RunOption[] {
  return listOf(options).flatMap(option => {
    const { key, options: values } = isObject(option) ? option : {};
    if (typeof key !== 'string' || !Array.isArray(values)) return [];
    return [{ key, options: listOf(values).filter(value => typeof value === 'string') }];
  });
}
