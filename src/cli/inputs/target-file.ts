import type { Connection, Context } from '../context.ts';
import { usageError } from '../errors.ts';

/** Publishes a prompt file to the local service and gives the version it became. */
export async function publishFile(ctx: Context, connection: Connection, file: string): Promise<string> {
  if (!connection.embedded && !isLoopback(connection.baseUrl)) {
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

/** A `promptrun serve` of this machine has the same store. */
function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
