import type { Model, Resources } from '../wire/index.ts';
import { type ModelTable, resourcesHash, wireModel } from './models/index.ts';

/** The models as the interface shows them; worked out anew only when they change. */
export interface ResourcesView {
  current(): Resources;
  hash(): string;
  /** The place of a model in the list; -1 if it is not in it. */
  indexOf(model: string): number;
}

export function resourcesView(table: ModelTable): ResourcesView {
  let held = read(table);
  table.onChange(() => {
    held = read(table);
  });
  return {
    current: () => held,
    hash: () => held.hash,
    indexOf: model => held.resources.models.findIndex(entry => entry.model === model),
  };
}

function read(table: ModelTable): Resources {
  const models: Model[] = table.list().map(wireModel);
  return { hash: resourcesHash(models), resources: { models } };
}
