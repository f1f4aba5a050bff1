export { type ModelEntry, PROVIDER_SETTINGS, type Provider, wireModel } from './entry.ts';
export { type ResourcesView, resourcesHash, resourcesView } from './resources-view.ts';
export { loadModels, type ModelTable, type ModelTableOptions } from './table.ts';
