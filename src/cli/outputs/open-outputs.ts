import { isMedia, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { openFile, openText, openUrl } from '../terminal/open-viewer.ts';

/**
 * Opens saved files, texts, web URLs, and files of the embedded service, but nothing else that a
 * service names.
 */
export async function openOutputs(
  ctx: Context,
  connection: Connection,
  run: Run,
  paths: readonly (string | undefined)[],
): Promise<void> {
  const ownFilesFolder =
    connection.isEmbedded && connection.recorder?.mode !== 'replay' ? ctx.dataDir : undefined;
  for (const [index, item] of run.outputs.entries()) {
    const path = paths[index];
    if (path !== undefined) {
      await openFile(ctx, path);
    } else if (isMedia(item)) {
      await openUrl(ctx, item.data, ownFilesFolder);
    } else if (item.type === 'text') {
      await openText(ctx, `output-${index + 1}.txt`, item.data);
    }
  }
}
