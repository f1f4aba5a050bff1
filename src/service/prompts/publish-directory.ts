import { codeOf, toError } from '../../files/error-utils.ts';
import { watchDirectory } from '../files/watch-directory.ts';
import type { PromptDefinition } from './definition.ts';
import { isPromptText, partialsBeside, promptFilesIn, readPromptText } from './files.ts';
import { type PublishContext, publishPrompt } from './publish.ts';
import { readDefinition } from './read-prompt.ts';
import { slugOf } from './slug.ts';
import type { PromptTasks } from './tasks/prompt-tasks.ts';

/**
 * Publishes the prompt files of a directory, and each one again that changes; one whose model is not there, once it is.
 * A file that is removed stays published: `prompts publish --unpublish` withdraws it.
 */
export async function publishFromDirectory(
  directory: string,
  context: PublishContext,
  onNotice: (line: string) => void,
): Promise<WatchedPrompts> {
  const watched = watchPromptFiles(directory, {
    tasks: context.tasks,
    async onFile(definition, file) {
      const { slug, promptVersionId, changed } = await publishPrompt(context, definition, file);
      if (changed) onNotice(`published ${slug} as ${promptVersionId}`);
    },
    onError: error => onNotice(`not published: ${error.message}`),
  });
  await watched.ready;
  const stop = context.models.onChange(() => void watched.lookAgain());
  return {
    ...watched,
    close() {
      stop();
      watched.close();
    },
  };
}

interface PromptWatch {
  /** How files are read. */
  readonly tasks: PromptTasks;
  /** A file that is new or has changed. One that is refused by an error is offered again at the next look. */
  readonly onFile: (definition: PromptDefinition, file: string) => void | Promise<void>;
  /** A file that is gone; its prompt's slug. */
  readonly onRemoved?: (slug: string) => void | Promise<void>;
  /** A file or directory that can't be read or was refused; the others go on being watched. Called once for each fault. */
  readonly onError: (error: Error) => void;
}

export interface WatchedPrompts {
  /** Every file that was there has been reported. Never rejects. */
  readonly ready: Promise<void>;
  /** Looks again now, at files that were refused as well. Never rejects. */
  readonly lookAgain: () => Promise<void>;
  readonly close: () => void;
}

/** Reports the prompt files of a directory, first those that are there, then every change. */
export function watchPromptFiles(directory: string, watch: PromptWatch): WatchedPrompts {
  const scanner = new Scanner(directory, watch);
  const onChange = (): Promise<void> => scanner.scan();
  const { settle, close } = watchDirectory(directory, {
    concerns: isPromptText,
    onChange,
    onError: watch.onError,
  });
  return { ready: settle(), lookAgain: settle, close };
}

/** Looks through the whole directory each time: what an event says of a file is less than what is in it. */
class Scanner {
  /** What each file was when it was taken. */
  private readonly taken = new Map<string, PromptDefinition>();
  /** The content and the fault of each file that was not. */
  private readonly faulty = new Map<string, string>();

  constructor(
    private readonly directory: string,
    private readonly watch: PromptWatch,
  ) {}

  async scan(): Promise<void> {
    const files = await promptFilesIn(this.directory);
    for (const file of files) await this.visit(file);
    for (const file of this.taken.keys()) if (!files.includes(file)) await this.forget(file);
  }

  private async visit(file: string): Promise<void> {
    let text = '';
    try {
      text = await readPromptText(file);
      if (isAsTaken(this.taken.get(file), text, file)) return;
      const definition = await readDefinition(text, file, { tasks: this.watch.tasks });
      await this.watch.onFile(definition, file);
      this.taken.set(file, definition);
      this.faulty.delete(file);
    } catch (error) {
      this.report(file, text, toError(error));
    }
  }

  private async forget(file: string): Promise<void> {
    this.taken.delete(file);
    this.faulty.delete(file);
    try {
      await this.watch.onRemoved?.(slugOf(file));
    } catch (error) {
      this.watch.onError(toError(error));
    }
  }

  /** A file that vanished meanwhile is not a fault. */
  private report(file: string, text: string, error: Error): void {
    const fault = `${error.message}\n${text}`;
    if (codeOf(error) === 'ENOENT' || this.faulty.get(file) === fault) return;
    this.faulty.set(file, fault);
    this.watch.onError(error);
  }
}

/** Whether neither the file nor a partial it uses has changed. */
function isAsTaken(taken: PromptDefinition | undefined, text: string, file: string): boolean {
  if (taken?.source !== text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')) return false;
  const partials = partialsBeside(file);
  return Object.entries(taken.partials).every(([name, text]) => {
    const partial = partials(name);
    return partial && 'text' in partial && partial.text === text;
  });
}
