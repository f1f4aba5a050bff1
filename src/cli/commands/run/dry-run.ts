import { text as textOf } from 'node:stream/consumers';
import type { Context } from '../../context.ts';
import { Forecast } from '../../creation/forecast.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { escapeJson, printValue, wantsJson } from '../../outputs/json.ts';
import { singleQuoted } from '../../terminal/shell-word.ts';
import type { PreparedRun } from './prepare.ts';

/** Where `promptrun serve` listens by default. */
const LOCAL_BASE_URL = 'http://127.0.0.1:8787/v1';

/** Prints the body that would be sent, and on standard error a curl command that sends it. Creates nothing. */
export async function printDryRun(ctx: Context, prepared: PreparedRun): Promise<ExitCode> {
  const { connection, request, estimatedCredits } = prepared;
  const creation = buildRunBody(request);
  const { body } = creation;
  if (ctx.globals.query !== undefined) {
    await printValue(ctx, JSON.parse(await textOf(body.chunks())));
  } else {
    const shown = ctx.io.stdout.isTerminal && !wantsJson(ctx) ? shortened(request) : body.chunks();
    await printWhole(ctx, shown);
  }
  if (ctx.globals.quiet) return EXIT.ok;
  const forecast = new Forecast();
  await forecast.add(connection, creation, estimatedCredits);
  ctx.io.note(`note: ${forecast.text()}`);
  if (connection.embedded) {
    ctx.io.note('note: the embedded service can be reached by curl once it runs: promptrun serve');
    ctx.io.note('note: it prints a key on its first start; others come from: promptrun keys create');
  }
  await printCurl(ctx, connection.embedded ? LOCAL_BASE_URL : connection.baseUrl, request, body.chunks());
  return EXIT.ok;
}

async function printCurl(
  ctx: Context,
  baseUrl: string,
  request: RunRequest,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const end = delimiterFor(request);
  ctx.io.err(
    [
      `curl -sS -X POST ${singleQuoted(`${baseUrl}/runs`)} \\`,
      '  -H "Authorization: Bearer $PROMPTRUN_API_KEY" \\',
      "  -H 'Content-Type: application/json' \\",
      `  --data-binary @- <<'${end}'`,
      '',
    ].join('\n'),
  );
  const decoder = new TextDecoder();
  for await (const chunk of body) ctx.io.err(escapeJson(decoder.decode(chunk, { stream: true })));
  ctx.io.err(`\n${end}\n`);
}

/** A word that stands nowhere in what was given, so that nothing in it can end the here-document. */
function delimiterFor({ text, options }: RunRequest): string {
  const given = [...text, ...options].flat().join('\n');
  let delimiter = 'END_OF_BODY';
  while (given.includes(delimiter)) delimiter += '_';
  return delimiter;
}

async function printWhole(ctx: Context, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (!(await ctx.io.out(chunk))) return;
  }
  await ctx.io.out('\n');
}

/** The body for people: pictures by name, since nobody reads base64. */
async function* shortened(request: RunRequest): AsyncGenerator<Uint8Array> {
  const { promptVersionId, text, images, options } = request;
  const inputs = {
    ...(text.size > 0 && { textInputs: Object.fromEntries(text) }),
    ...(images.length > 0 && {
      imageInputs: images.map(image =>
        image.kind === 'url'
          ? { type: 'url', url: image.url }
          : { type: 'base64', base64: `<${image.size} bytes of ${image.name}>` },
      ),
    }),
  };
  const body = {
    promptVersionId,
    inputs,
    ...(options.size > 0 && { runOptions: Object.fromEntries(options) }),
  };
  yield Buffer.from(JSON.stringify(body, undefined, 2));
}
