import { createHash } from 'node:crypto';
import { sortKeys } from '../../files/json.ts';
import type { Model, Resources } from '../../wire/index.ts';
import { wireModel } from '../entry.ts';
import type { ModelTable } from './table.ts';

/** The models as the interface shows them; computed again only when they change. */
export type ResourcesView = ReturnType<typeof resourcesView>;

export function resourcesView(table: ModelTable) {
  let current = read(table);
  table.onChange(() => {
    current = read(table);
  });
  return {
    current: () => current,
    hash: () => current.hash,
    /** The place of a model in the list; -1 if it is not in it. */
    indexOf: (model: string): number => current.resources.models.findIndex(entry => entry.model === model),
  };
}

function read(table: ModelTable): Resources {
  const models: Model[] = table.list().map(wireModel);
  return { hash: resourcesHash(models), resources: { models } };
}

/** The hash of `GET /resources`: the same for the same models in every process, whatever order their fields came in. */
export function resourcesHash(models: readonly Model[]): string {
  return createHash('sha256').update(JSON.stringify(models, sortKeys)).digest('base64url');
}
