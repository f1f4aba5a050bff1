import type { CallToolResult } from '@modelcontextprotocol/server';
import { detectImageType } from '../../files/formats/image-type.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { OutputItem, Run, RunRow } from '../../wire/index.ts';
import { formatDollars, toDollars, toMoney } from '../../wire/money.ts';
import type { Connection, Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import { formatReason } from '../outputs/run-errors.ts';
import { escapeControls, toOneLine } from '../terminal/sanitise.ts';

type ToolContent = CallToolResult['content'][number];

/** Maximum size of an embedded image, in bytes; a larger one is named by its URL. */
const MAX_AGENT_IMAGE_BYTES = 20 * 1024 * 1024;

/** The URL of an image did not return an image. */
class NotAnImageError extends Error {
  override readonly name = 'NotAnImageError';
}

/**
 * Returns a run as the result of a tool: its outputs, then its id and what it cost. A failed run is
 * a tool error, and so is a URL that returns anything but an image.
 *
 * @param options.hasCreditCap true under a cap on credits; otherwise the text leaves out those of
 * the embedded service
 */
export async function buildRunResult(
  ctx: Context,
  connection: Connection,
  run: Run,
  { hasCreditCap = false } = {},
): Promise<CallToolResult> {
  const content: ToolContent[] = [];
  let isError = run.runStatus === 'failed';
  for (const item of run.outputs) {
    try {
      content.push(await toToolContent(ctx, connection, item));
    } catch (error) {
      if (!(error instanceof NotAnImageError)) throw error;
      isError = true;
      content.push({ type: 'text', text: `error: ${toOneLine(error.message)}` });
    }
  }

  const { runId, runStatus, tokens } = run;
  const costs = await fetchCosts(ctx, connection, runId);
  const facts = { runId, runStatus, tokens, ...costs };
  const { credits: _, ...factsWithoutCredits } = facts;
  const isEmbedded = costs.cost !== undefined;
  const shownFacts = isEmbedded && !hasCreditCap ? factsWithoutCredits : facts;
  content.push({ type: 'text', text: formatRunFacts(shownFacts) });

  return { content, structuredContent: facts, ...(isError && { isError }) };
}

async function toToolContent(
  ctx: Context,
  connection: Connection,
  item: OutputItem,
): Promise<ToolContent> {
  const { type, data } = item;
  if (type === 'text') return { type: 'text', text: data };

  if (type === 'error') {
    return { type: 'text', text: `error: ${escapeControls(formatReason(data))}` };
  }

  if (type !== 'image') {
    return { type: 'text', text: `${toOneLine(type)}: ${escapeControls(data)}` };
  }

  try {
    return await downloadImage(ctx, connection, data);
  } catch (error) {
    if (error instanceof NotAnImageError) throw error;
    ctx.signal.throwIfAborted();
    return {
      type: 'text',
      text: `image (not shown: ${toOneLine(getErrorMessage(error))}): ${toOneLine(data)}`,
    };
  }
}

/** @throws {NotAnImageError} */
async function downloadImage(
  { signal }: Context,
  { client }: Connection,
  url: string,
): Promise<ToolContent> {
  const { contentType, body } = await client.download(url, { signal });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_AGENT_IMAGE_BYTES) throw new Error('it is larger than 20 MiB');
    chunks.push(Buffer.from(chunk));
  }

  const bytes = Buffer.concat(chunks);
  const mimeType = await detectImageType(bytes);
  if (mimeType === undefined) {
    throw new NotAnImageError(
      `${url} returns ${contentType ?? 'an unknown type'}, and its content is not a picture`,
    );
  }

  return { type: 'image', mimeType, data: bytes.toString('base64') };
}

interface RunCosts {
  /** null if the run was free; undefined if unknown. */
  readonly credits?: number | null;
  /** The cost in US dollars; only of the embedded service. */
  readonly cost?: number;
}

/** Returns the costs of a run that are available; never fails. */
async function fetchCosts(
  ctx: Context,
  { client, costs }: Connection,
  runId: string,
): Promise<RunCosts> {
  const { signal } = ctx;
  try {
    const { rows } = await client.runs.list({ limit: 50 }, { signal, retries: 0 });
    const row: RunRow | undefined = rows.find(run => run.runId === runId);
    const cost = (await costs?.readRunCosts([runId]))?.get(runId)?.cost ?? undefined;
    return {
      ...(row !== undefined && { credits: row.credits }),
      ...(cost !== undefined && { cost: toDollars(cost) }),
    };
  } catch {
    return {};
  }
}

function formatRunFacts({
  runId,
  runStatus,
  tokens,
  credits,
  cost,
}: Omit<Run, 'outputs'> & RunCosts): string {
  const facts = [`run ${runId}: ${runStatus}`, pluralize(tokens, 'token')];
  if (credits !== undefined) facts.push(credits === null ? 'free' : pluralize(credits, 'credit'));
  if (cost !== undefined) facts.push(formatDollars(toMoney(cost)));
  return facts.join(', ');
}
