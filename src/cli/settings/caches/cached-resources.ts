import path from 'node:path';
import { type AddressSources, resolveAddress } from '../config/address.ts';
import { resolveKey } from '../credentials/resolve-key.ts';
import { readCacheFile } from './cache-file.ts';
import {
  LOCAL_SCOPE,
  parseEntries,
  RESOURCES_FILE,
  type ResourceEntry,
  resourceScope,
} from './resource-entries.ts';

/** The cached models of a service, and where they are kept. */
export interface CachedResources {
  readonly file: string;
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  /** undefined while nothing is cached. */
  readonly cached: ResourceEntry | undefined;
}

/** What is cached for the service and key in force; starts nothing and sends nothing. */
export async function cachedResources(sources: AddressSources): Promise<CachedResources> {
  const address = resolveAddress(sources);
  const service = address.embedded ? 'local' : address.baseUrl.value;
  const scope = address.embedded
    ? LOCAL_SCOPE
    : resourceScope(service, (await resolveKey(sources, address)).value);
  const file = path.join(sources.settings.directory, RESOURCES_FILE);
  const cached = parseEntries(readCacheFile(file)).find(entry => entry.scope === scope);
  return { file, service, cached };
}
