import { isUuid } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { connectionFor } from '../../inputs/prompt-file.ts';
import { readNamed } from '../../inputs/prompt-name.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { withSpinner } from '../../terminal/spinner.ts';

/** Shows a prompt: title, version, the inputs it expects, and of the local service its template. */
export async function promptsGet(
  ctx: Context,
  prompt: string,
  { versionId }: { readonly versionId?: string },
): Promise<void> {
  const connection = await connectionFor(ctx, prompt);
  const reading = readNamed(ctx, connection, prompt, versionId);
  const version = await withSpinner(ctx, 'asking for the prompt', reading);
  const isId = versionId !== undefined || isUuid(prompt);
  await presentPromptVersion(ctx, version, connection, ...(isId ? [] : [prompt]));
}
