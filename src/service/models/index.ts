export { type ModelEntry, type Provider, wireModel } from './entry.ts';
export { resourcesHash } from './hash.ts';
export { loadModels, type ModelTable, type ModelTableOptions } from './table.ts';
