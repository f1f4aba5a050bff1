// Imported late by a name of our own: the bundle then loads the package as it loads its own files, without starting
// Node's loader of ES modules.
export { DatabaseSync } from '@photostructure/sqlite';
