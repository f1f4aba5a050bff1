import { watchDirectory } from '../watch-directory.ts';
import type { PromptDefinition } from './definition.ts';
import { isPromptFile, promptFilesIn, readPromptText, toError } from './files.ts';
import { parsePromptFile } from './parse.ts';
import { slugOf } from './slug.ts';

export interface PromptWatch {
  /** A file that is new or has changed. */
  readonly onFile: (definition: PromptDefinition, file: string) => void | Promise<void>;
  /** A file that is gone; its prompt's slug. */
  readonly onRemoved?: (slug: string) => void | Promise<void>;
  /** A file or directory that can't be read; the others go on being watched. */
  readonly onError: (error: Error) => void;
}

export interface WatchedPrompts {
  /** Every file that was there has been reported. Never rejects. */
  readonly ready: Promise<void>;
  close(): void;
}

/** Reports the prompt files of a directory, first those that are there, then every change. */
export function watchPromptFiles(directory: string, watch: PromptWatch): WatchedPrompts {
  const scan = scanner(directory, watch);
  const watching = watchDirectory(directory, {
    concerns: isPromptFile,
    onChange: scan,
    onError: watch.onError,
  });
  return { ready: watching.settle(), close: watching.close };
}

/** Looks through the whole directory each time: what an event says of a file is less than what is in it. */
function scanner(directory: string, { onFile, onRemoved, onError }: PromptWatch): () => Promise<void> {
  const seen = new Map<string, string>();
  const unreadable = new Map<string, string>();

  const visit = async (file: string): Promise<void> => {
    try {
      const text = await readPromptText(file);
      unreadable.delete(file);
      if (seen.get(file) === text) return;
      seen.set(file, text);
      await onFile(parsePromptFile(text, file), file);
    } catch (error) {
      report(file, toError(error));
    }
  };

  /** A file that can't be read is reported once; one that vanished meanwhile is no fault. */
  const report = (file: string, error: Error): void => {
    if (('code' in error && error.code === 'ENOENT') || unreadable.get(file) === error.message) return;
    unreadable.set(file, error.message);
    onError(error);
  };

  const forget = async (file: string): Promise<void> => {
    seen.delete(file);
    unreadable.delete(file);
    try {
      await onRemoved?.(slugOf(file));
    } catch (error) {
      onError(toError(error));
    }
  };

  return async () => {
    const files = await promptFilesIn(directory);
    for (const file of files) await visit(file);
    for (const file of seen.keys()) if (!files.includes(file)) await forget(file);
  };
}
