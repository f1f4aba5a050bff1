import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../clock.ts';
import type { LoadedImage } from '../images/index.ts';
import { writeDurably } from '../store/durable-file.ts';

/** The input pictures of runs, kept until the run ends so that it can be started again. */
export interface InputFiles {
  save(runId: string, images: readonly LoadedImage[]): Promise<void>;
  load(runId: string, mediaTypes: readonly string[]): Promise<LoadedImage[]>;
  remove(runId: string): Promise<void>;
  /** The runs whose files are so old that they may have been left behind. */
  leftBehind(): Promise<string[]>;
}

/** Longer than any creation takes from its first file to its run, in milliseconds. */
const SETTLED_MS = 60 * 60 * 1000;

export function inputFiles(dataDir: string, clock: Clock): InputFiles {
  const root = path.join(dataDir, 'inputs');
  const fileOf = (runId: string, index: number): string => path.join(root, runId, String(index));
  return {
    async save(runId, images) {
      await Promise.all(images.map((image, index) => writeDurably(fileOf(runId, index), image.bytes)));
    },
    load: async (runId, mediaTypes) =>
      await Promise.all(
        mediaTypes.map(async (mediaType, index) => ({
          mediaType,
          bytes: await readFile(fileOf(runId, index)),
        })),
      ),
    remove: runId => rm(path.join(root, runId), { recursive: true, force: true }),
    async leftBehind() {
      const before = clock.now() - SETTLED_MS;
      const runIds = await readdir(root).catch(() => []);
      const old = await Promise.all(
        runIds.map(async runId => {
          const found = await stat(path.join(root, runId)).catch(() => undefined);
          return found && found.mtimeMs < before ? [runId] : [];
        }),
      );
      return old.flat();
    },
  };
}
