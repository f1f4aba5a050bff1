import { Worker } from 'node:worker_threads';
import { builtFile } from './installed-file.ts';
import { assetText, FILE_VARIABLE, isSingleFile, MAIN_SCRIPT } from './single-file.ts';

/** Starts a build output as a thread. It gets nothing of the environment, above all no keys. */
export function startThread(file: string): Worker {
  if (!isSingleFile()) return new Worker(builtFile(file), { env: {} });
  return new Worker(assetText(MAIN_SCRIPT), { eval: true, env: { [FILE_VARIABLE]: file } });
}
