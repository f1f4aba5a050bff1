import path from 'node:path';
import { codeOf, messageOf, toError } from '../../files/error-utils.ts';
import { whyLeftOut } from '../../files/named-file.ts';
import { watchDirectory } from '../../files/watch-directory.ts';
import type { PromptDefinition } from '../../prompts/definition.ts';
import { isPromptText, partialsBeside, promptFilesIn, readPromptText } from '../../prompts/parse/files.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import { type PublishContext, publishPrompt } from './publish.ts';

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
      const { slug, promptVersionId, changed, echoes } = await publishPrompt(context, definition, file);
      if (!changed) return;
      onNotice(`published ${slug} as ${promptVersionId}`);
      if (echoes) onNotice(`note: no model named in ${path.basename(file)}: echo gives the prompt back`);
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
  readonly tasks: PromptTasks;
  /** A file that is new or has changed. One that is refused by an error is offered again at the next look. */
  readonly onFile: (definition: PromptDefinition, file: string) => void | Promise<void>;
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

/**
 * Reports the prompt files of a directory, first those that are there, then every change. Each time the whole directory
 * is looked through: what an event says of a file is less than what is in it.
 */
export function watchPromptFiles(directory: string, { tasks, onFile, onError }: PromptWatch): WatchedPrompts {
  /** What each file was when it was taken, and the content and the fault of each one that was not. */
  const taken = new Map<string, PromptDefinition>();
  const faulty = new Map<string, string>();
  const visit = async (file: string): Promise<void> => {
    let text = '';
    try {
      const reason = whyLeftOut(file, directory);
      if (reason !== undefined) throw new Error(`${file} is left out: ${reason}`);
      text = await readPromptText(file);
      if (isAsTaken(taken.get(file), text, file)) return;
      const definition = await readDefinition(text, file, { tasks });
      await onFile(definition, file);
      taken.set(file, definition);
      faulty.delete(file);
    } catch (error) {
      const fault = `${messageOf(error)}\n${text}`;
      // A file that vanished meanwhile is not a fault.
      if (codeOf(error) === 'ENOENT' || faulty.get(file) === fault) return;
      faulty.set(file, fault);
      onError(toError(error));
    }
  };
  const onChange = async (): Promise<void> => {
    for (const file of await promptFilesIn(directory)) await visit(file);
  };
  const { settle, close } = watchDirectory(directory, { concerns: isPromptText, onChange, onError });
  return { ready: settle(), lookAgain: settle, close };
}

function isAsTaken(taken: PromptDefinition | undefined, text: string, file: string): boolean {
  if (taken?.source !== text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')) return false;
  const partials = partialsBeside(file);
  return Object.entries(taken.partials).every(([name, text]) => {
    const partial = partials(name);
    return partial && 'text' in partial && partial.text === text;
  });
}
