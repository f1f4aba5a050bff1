import { Worker } from 'node:worker_threads';
import { resolveBuiltFile } from './installed-file.ts';
import { FILE_VARIABLE, isSingleFile, MAIN_SCRIPT, readAssetText } from './single-file.ts';

/** Starts a build output as a thread. It gets nothing of the environment, above all no keys. */
export function startThread(file: string): Worker {
  if (!isSingleFile()) return new Worker(resolveBuiltFile(file), { env: {} });
  return new Worker(readAssetText(MAIN_SCRIPT), { eval: true, env: { [FILE_VARIABLE]: file } });
}
