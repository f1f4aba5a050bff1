import { isJsonObject, type UncheckedObject } from '../../utils/bounded-json.ts';
import type { Resources } from '../../wire/index.ts';
import type { ReadOptions } from '../request-options.ts';
import { EndpointGroup, findTextFault } from './answer-data.ts';

/** The endpoint for models and the run options that they accept. */
export class ResourcesApi extends EndpointGroup {
  /**
   * Returns every model that the service lists, malformed entries included, and the hash of the
   * list. Ignores `action-require` in the answer, because the answer is the refresh.
   */
  async get(options: ReadOptions = {}): Promise<Resources> {
    const request = { ...options, ignoreActionRequire: true };
    return await this.read(['GET', '/resources'], request, 'list of models', findResourcesFault);
  }
}

function findResourcesFault(data: UncheckedObject): string | undefined {
  const { resources } = data;
  if (!isJsonObject(resources)) return 'resources is not an object';
  return (
    findTextFault(data, 'hash') ??
    (Array.isArray(resources['models']) ? undefined : 'models is not a list')
  );
}
