import path from 'node:path';
import { explainExclusion } from '../../files/named-file.ts';
import { watchDirectory } from '../../files/watch-directory.ts';
import type { PromptDefinition } from '../../prompts/definition.ts';
import { describeMissingFence } from '../../prompts/parse/prompt-source.ts';
import {
  createPartialLookup,
  isPromptText,
  listFolderPromptFiles,
  readPromptText,
} from '../../prompts/parse/read-prompt-text.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import { getErrorCode, getErrorMessage, hasNoSpace, toError } from '../../utils/error-utils.ts';
import { isStoreUnavailable } from '../store/store-errors.ts';
import { type PublishContext, publishPrompt } from './publish.ts';

/** Pause before files are offered again that the store could not take, in milliseconds. */
const RETRY_MS = 5000;

/**
 * Publishes the prompt files of a directory, and every change to them. A file whose model is
 * missing is published once the model exists. A removed file stays published:
 * `prompts publish --unpublish` withdraws it.
 */
export async function publishFromDirectory(
  directory: string,
  context: PublishContext,
  onNotice: (line: string) => void,
): Promise<WatchedPrompts> {
  const closing = new AbortController();
  let isRetryPlanned = false;
  const retryLater = async (): Promise<void> => {
    if (isRetryPlanned) return;
    isRetryPlanned = true;
    await context.clock.sleep(RETRY_MS, closing.signal);
    isRetryPlanned = false;
    await watch.rescan();
  };

  const watch = watchPromptFiles(directory, {
    tasks: context.tasks,
    async onFile(definition, file) {
      const publication = await publishPrompt(context, definition, file).catch((error: unknown) => {
        if (isStoreFault(error)) void retryLater().catch(() => {});
        throw error;
      });
      const { slug, promptVersionId, changed, echoes, lacksFence } = publication;
      if (!changed) return;

      onNotice(`published ${slug} as ${promptVersionId}`);

      if (echoes) {
        onNotice(`note: no model named in ${path.basename(file)}: echo gives the prompt back`);
      }

      if (lacksFence) onNotice(describeMissingFence(path.basename(file)));
    },
    onError: error => onNotice(`not published: ${error.message}`),
  });
  await watch.ready;
  const stop = context.models.onChange(() => void watch.rescan());

  return {
    ...watch,
    close() {
      stop();
      closing.abort(new Error('the service is stopping'));
      watch.close();
    },
  };
}

/**
 * Returns true for an error of the store or its disk, after which the same write may succeed later.
 */
function isStoreFault(error: unknown): boolean {
  return (
    isStoreUnavailable(error) || hasNoSpace(error) || (error instanceof Error && 'errcode' in error)
  );
}

interface PromptWatch {
  readonly tasks: PromptTasks;
  /**
   * Called for each new or changed file. If it throws, the file is offered again at the next scan.
   */
  readonly onFile: (definition: PromptDefinition, file: string) => void | Promise<void>;
  /**
   * Called once for each fault: a file or directory that can't be read, or a refused file. The
   * others stay watched.
   */
  readonly onError: (error: Error) => void;
}

export interface WatchedPrompts {
  /** Resolves once every existing file has been reported. Never rejects. */
  readonly ready: Promise<void>;
  /** Scans again now, including refused files. Never rejects. */
  readonly rescan: () => Promise<void>;
  readonly close: () => void;
}

/**
 * Reports the prompt files of a directory, first the existing ones, then every change. Scans the
 * whole directory each time, because events say less about a file than its content.
 */
export function watchPromptFiles(
  directory: string,
  { tasks, onFile, onError }: PromptWatch,
): WatchedPrompts {
  /** The definition of each accepted file, and the content and fault of each refused one. */
  const acceptedDefinitions = new Map<string, PromptDefinition>();
  const faultsByFile = new Map<string, string>();
  const visit = async (file: string): Promise<void> => {
    let text = '';
    try {
      const reason = explainExclusion(file, directory);
      if (reason !== undefined) throw new Error(`${file} is left out: ${reason}`);

      text = await readPromptText(file);
      if (isUnchanged(acceptedDefinitions.get(file), text, file)) return;

      const definition = await readDefinition(text, file, { tasks });
      await onFile(definition, file);
      acceptedDefinitions.set(file, definition);
      faultsByFile.delete(file);
    } catch (error) {
      const fault = `${getErrorMessage(error)}\n${text}`;
      // A file that was removed meanwhile is not a fault.
      if (getErrorCode(error) === 'ENOENT' || faultsByFile.get(file) === fault) return;
      faultsByFile.set(file, fault);
      onError(toError(error));
    }
  };

  const onChange = async (): Promise<void> => {
    for (const file of await listFolderPromptFiles(directory)) await visit(file);
  };

  const { changeNow, close } = watchDirectory(directory, {
    isWatched: isPromptText,
    onChange,
    onError,
  });
  return { ready: changeNow(), rescan: changeNow, close };
}

function isUnchanged(
  definition: PromptDefinition | undefined,
  text: string,
  file: string,
): boolean {
  if (definition?.source !== text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')) return false;
  const partials = createPartialLookup(file);
  return Object.entries(definition.partials).every(([name, text]) => {
    const partial = partials(name);
    return partial && 'text' in partial && partial.text === text;
  });
}
