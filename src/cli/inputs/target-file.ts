import type { Connection, Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { isLoopback } from '../settings/address.ts';

/** Publishes a prompt file to the local service and gives the version it became. */
export async function publishFile(ctx: Context, connection: Connection, file: string): Promise<string> {
  // A `promptrun serve` of this machine has the same store.
  if (!connection.embedded && !isLoopback(new URL(connection.baseUrl).hostname)) {
    throw usageError(
      `${file} is a prompt file: the local service can run it, ${new URL(connection.baseUrl).host} can't`,
      'Run it without a profile or base URL, or give the id of a published prompt.',
    );
  }
  const store = await ctx.local.open({ dataDir: ctx.dataDir });
  try {
    const published = await store.publish(file);
    if (published.changed)
      ctx.io.note(`note: published ${published.slug}, version ${published.promptVersionId}`);
    return published.promptVersionId;
  } finally {
    await store.close();
  }
}
