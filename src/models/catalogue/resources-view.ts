import { createHash } from 'node:crypto';
import { sortKeys } from '../../files/formats/json.ts';
import type { Model, Resources } from '../../wire/index.ts';
import { toWireModel } from '../model-entry.ts';
import type { ModelTable } from './model-table.ts';

/** The body of `GET /resources`, recomputed only when the models change. */
export type ResourcesView = ReturnType<typeof createResourcesView>;

/** Creates the view of a table's models. */
export function createResourcesView(table: ModelTable) {
  let currentResources = toResources(table);
  table.onChange(() => {
    currentResources = toResources(table);
  });
  return {
    getResources: () => currentResources,
    getHash: () => currentResources.hash,
    /** Returns the index of a model in the list; -1 if it is not listed. */
    indexOf: (model: string): number =>
      currentResources.resources.models.findIndex(entry => entry.model === model),
  };
}

function toResources(table: ModelTable): Resources {
  const models: Model[] = table.list().map(toWireModel);
  return { hash: hashModels(models), resources: { models } };
}

/**
 * Returns the hash of `GET /resources`: equal in every process for equal models, regardless of the
 * order of fields.
 */
export function hashModels(models: readonly Model[]): string {
  return createHash('sha256').update(JSON.stringify(models, sortKeys)).digest('base64url');
}
