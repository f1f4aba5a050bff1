import { isJsonObject } from '../wire/bounded-json.ts';
import type { Resources } from '../wire/index.ts';
import type { ReadOptions } from './request.ts';
import { Endpoints, type Fields, strings } from './shape.ts';

/** Models and the run options they accept. */
export class ResourcesApi extends Endpoints {
  /**
   * Every model as the service lists it, and the hash of them; a malformed one is given as it came. The answer's own wish
   * for a refresh is fulfilled by itself, so not reported.
   */
  async get(options: ReadOptions = {}): Promise<Resources> {
    const request = { ...options, ignoreActionRequire: true };
    return await this.read(['GET', '/resources'], request, 'list of models', resourcesFault);
  }
}

function resourcesFault(data: Fields): string | undefined {
  const { resources } = data;
  if (!isJsonObject(resources)) return 'resources is not an object';
  return strings(data, 'hash') ?? (Array.isArray(resources['models']) ? undefined : 'models is not a list');
}
