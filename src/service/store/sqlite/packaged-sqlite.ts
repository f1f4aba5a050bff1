// A separate file to import lazily, so that the bundle loads the package like its own files,
// without Node's loader of ES modules.
export { DatabaseSync } from '@photostructure/sqlite';
