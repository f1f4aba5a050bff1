import { Worker } from 'node:worker_threads';
import { builtFile } from './installed-file.ts';
import { assetText, FILE_VARIABLE, isSingleFile, MAIN_SCRIPT } from './single-file.ts';

/** Starts a file of the build as a thread. Nothing of the environment is its business, keys least of all. */
export function startThread(file: string): Worker {
  if (!isSingleFile()) return new Worker(builtFile(file), { env: {} });
  return new Worker(assetText(MAIN_SCRIPT), { eval: true, env: { [FILE_VARIABLE]: file } });
}
