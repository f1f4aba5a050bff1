import path from 'node:path';
import { isDirectory } from '../../../files/writing/write-below.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { checkCostCap, parseCaps } from '../../creation/spending/caps.ts';
import { resolveAddress } from '../../settings/config/address.ts';
import type { MCP } from './spec.ts';

type McpFlags = FlagsOf<typeof MCP.flags>;

/** Offers prompts to an agent on standard input and output, until the input ends. */
export async function serveMcp(ctx: Context, flags: McpFlags): Promise<void> {
  if (ctx.isReplay) {
    throw usageError("mcp can't be replayed", 'Leave out --replay, and unset PROMPTRUN_REPLAY.');
  }

  const caps = parseCaps(flags);

  // A fault of the configuration ends the command, not each call. The embedded service starts at
  // the first call.
  if (!resolveAddress(ctx).isEmbedded) await ctx.connection();
  if (caps.cost !== undefined) checkCostCap(caps, await ctx.connection());
  const directory = flags.prompts === undefined ? undefined : path.resolve(ctx.cwd, flags.prompts);
  if (directory !== undefined && !isDirectory(directory)) {
    throw usageError(`--prompts: ${flags.prompts} is not a directory`);
  }

  // A models file with a fault ends the command, not each call.
  if (ctx.modelsFile !== undefined) await ctx.localConnection();
  const [{ SessionPrompts }, { serveAgent }] = await Promise.all([
    import('../../mcp/session-prompts.ts'),
    import('../../mcp/serve-agent.ts'),
  ]);
  const session = await SessionPrompts.open(ctx, { directory, allow: flags.allow });
  await serveAgent(ctx, session, caps);
  ctx.signal.throwIfAborted();
}
