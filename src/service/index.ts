export { type EmbeddedService, startEmbedded } from './embedded.ts';
export { type KeyView, type LocalStore, openStore } from './local-store.ts';
export type { CommonOptions, Service, ServiceOptions } from './service-options.ts';
export { startService } from './start-service.ts';
