import path from 'node:path';
import { explainExclusion } from '../../files/named-file.ts';
import { watchDirectory } from '../../files/watch-directory.ts';
import type { PromptDefinition } from '../../prompts/definition.ts';
import { describeMissingFence } from '../../prompts/parse/prompt-source.ts';
import {
  createPartialLookup,
  isPromptOrPartialName,
  listFolderPromptFiles,
  readPromptText,
} from '../../prompts/parse/read-prompt-text.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import {
  getErrorCode,
  getErrorMessage,
  isDiskFullError,
  toError,
} from '../../utils/error-utils.ts';
import { isStoreUnavailable } from '../store/store-errors.ts';
import { type PublishContext, type PublishedFile, publishPrompt } from './publish.ts';

/** Time after which files are published again that the store could not take, in milliseconds. */
const RESCAN_DELAY_MS = 5000;

/**
 * Publishes the prompt files of a directory, and every change to them. A file whose model is
 * missing is published once the model exists. The prompt of a removed file stays published, until
 * `prompts publish --unpublish` withdraws it.
 */
export async function publishFromDirectory(
  directory: string,
  context: PublishContext,
  onNotice: (line: string) => void,
): Promise<{ close(): void }> {
  const publisher = new DirectoryPublisher(directory, context, onNotice);
  await publisher.start();
  return publisher;
}

class DirectoryPublisher {
  readonly #context: PublishContext;
  readonly #onNotice: (line: string) => void;
  readonly #watch: WatchedPrompts;
  readonly #closing = new AbortController();
  #isRescanPlanned = false;
  #stopFollowingModels: (() => void) | undefined;

  constructor(directory: string, context: PublishContext, onNotice: (line: string) => void) {
    this.#context = context;
    this.#onNotice = onNotice;
    this.#watch = watchPromptFiles(directory, {
      tasks: context.tasks,
      onFile: (definition, file) => this.#publish(definition, file),
      onError: error => onNotice(`not published: ${error.message}`),
    });
  }

  /** Waits for the existing files, then follows changes of the models. */
  async start(): Promise<void> {
    await this.#watch.ready;
    this.#stopFollowingModels = this.#context.models.onChange(() => void this.#watch.rescan());
  }

  close(): void {
    this.#stopFollowingModels?.();
    this.#closing.abort(new Error('the service is stopping'));
    this.#watch.close();
  }

  async #publish(definition: PromptDefinition, file: string): Promise<void> {
    try {
      this.#report(await publishPrompt(this.#context, definition, file), file);
    } catch (error) {
      if (isStoreFault(error)) void this.#rescanLater().catch(() => {});
      throw error;
    }
  }

  #report(
    { slug, promptVersionId, changed, usesEcho, lacksFence }: PublishedFile,
    file: string,
  ): void {
    if (!changed) return;

    this.#onNotice(`published ${slug} as ${promptVersionId}`);

    const fileName = path.basename(file);
    if (usesEcho) {
      this.#onNotice(`note: no model named in ${fileName}: echo gives the prompt back`);
    }

    if (lacksFence) this.#onNotice(describeMissingFence(fileName));
  }

  async #rescanLater(): Promise<void> {
    if (this.#isRescanPlanned) return;
    this.#isRescanPlanned = true;
    await this.#context.clock.sleep(RESCAN_DELAY_MS, this.#closing.signal);
    this.#isRescanPlanned = false;
    await this.#watch.rescan();
  }
}

/** Returns true for an error of the store or its disk: the same write may succeed later. */
function isStoreFault(error: unknown): boolean {
  return (
    isStoreUnavailable(error) ||
    isDiskFullError(error) ||
    (error instanceof Error && 'errcode' in error)
  );
}

interface PromptWatchOptions {
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
  /** Scans the directory again now, including refused files. Never rejects. */
  readonly rescan: () => Promise<void>;
  readonly close: () => void;
}

/**
 * Reports the prompt files of a directory, first the existing ones, then every change. Scans the
 * whole directory each time, because events say less about a file than its content.
 */
export function watchPromptFiles(
  directory: string,
  { tasks, onFile, onError }: PromptWatchOptions,
): WatchedPrompts {
  const acceptedDefinitions = new Map<string, PromptDefinition>();

  /** The fault and content of each refused file, so that each fault is reported once. */
  const faultsByFile = new Map<string, string>();

  const visit = async (file: string): Promise<void> => {
    let text = '';
    try {
      const reason = explainExclusion(file, directory);
      if (reason !== undefined) throw new Error(`${file} is left out: ${reason}`);

      text = await readPromptText(file);
      if (!isUnchanged(acceptedDefinitions.get(file), text, file)) {
        const definition = await readDefinition(text, file, { tasks });
        await onFile(definition, file);
        acceptedDefinitions.set(file, definition);
      }

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

  const { notifyNow, close } = watchDirectory(directory, {
    isWatched: isPromptOrPartialName,
    onChange,
    onError,
  });
  return { ready: notifyNow(), rescan: notifyNow, close };
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
