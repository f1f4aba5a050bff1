import type { Clock } from '../clock.ts';
import type { ModelTable } from '../models/index.ts';
import type { Store } from '../store/store.ts';
import { publishPrompt } from './publish.ts';
import { type WatchedPrompts, watchPromptFiles } from './watch.ts';

/**
 * Publishes the prompt files of a directory, and each one again that changes; one whose model is not there, once it is.
 * A file that is removed stays published: `prompts publish --unpublish` withdraws it.
 */
export async function publishFromDirectory(
  directory: string,
  context: { store: Store; models: ModelTable; clock: Clock },
  onNotice: (line: string) => void,
): Promise<WatchedPrompts> {
  const watched = watchPromptFiles(directory, {
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
