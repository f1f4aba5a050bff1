export { type ModelEntry, type Provider, wireModel } from './entry.ts';
export type { Env } from './environment.ts';
export { type ResourcesView, resourcesHash, resourcesView } from './resources-view.ts';
export { loadModels, type ModelTable, type ModelTableOptions } from './table.ts';
