import path from 'node:path';
import type { Context } from '../context.ts';
import { readCacheFile } from './cache-file.ts';
import { resolveAddress } from './resolve-address.ts';
import { resolveKey } from './resolve-key.ts';
import {
  LOCAL_SCOPE,
  parseEntries,
  RESOURCES_FILE,
  type ResourceEntry,
  resourceScope,
} from './resource-entries.ts';

/** What is held of a service's models, and where. */
export interface HeldResources {
  readonly file: string;
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  /** undefined while nothing is held. */
  readonly held: ResourceEntry | undefined;
}

/** What is held for the service and key in force; starts nothing and sends nothing. */
export async function heldResources(ctx: Context): Promise<HeldResources> {
  const address = resolveAddress(ctx);
  const service = address.embedded ? 'local' : address.baseUrl.value;
  const scope = address.embedded
    ? LOCAL_SCOPE
    : resourceScope(service, (await resolveKey(ctx, address)).value);
  const file = path.join(ctx.settings.directory, RESOURCES_FILE);
  const held = parseEntries(readCacheFile(file)).find(entry => entry.scope === scope);
  return { file, service, held };
}
