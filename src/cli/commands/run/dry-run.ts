import { text as textOf } from 'node:stream/consumers';
import type { Context } from '../../context.ts';
import type { CapFlags } from '../../core/shared-flags.ts';
import { parseCaps } from '../../creation/caps.ts';
import { Forecast } from '../../creation/forecast.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { withoutHiddenControls } from '../../terminal/sanitise.ts';
import { singleQuoted } from '../../terminal/shell-word.ts';
import type { PreparedRun } from './prepare.ts';

/** Where `promptrun serve` listens by default. */
const LOCAL_BASE_URL = 'http://127.0.0.1:8787/v1';

/** Prints the body that would be sent, and on standard error a curl command that sends it. Creates nothing. */
export async function printDryRun(ctx: Context, prepared: PreparedRun, flags: CapFlags): Promise<ExitCode> {
  const { connection, request, estimatedCredits } = prepared;
  const { io, globals } = ctx;
  const creation = buildRunBody(request);
  const body = await textOf(creation.body.chunks());
  if (globals.query !== undefined) await printValue(ctx, JSON.parse(body));
  else await io.out(`${io.stdout.isTerminal && !wantsJson(ctx) ? forPeople(body, request) : body}\n`);
  if (globals.quiet) return EXIT.ok;
  const forecast = new Forecast();
  await forecast.add(connection, creation, estimatedCredits);
  io.note(`note: ${forecast.text(parseCaps(flags))}`);
  if (connection.embedded) {
    io.note('note: the embedded service can be reached by curl once it runs: promptrun serve');
    io.note('note: it prints a key on its first start; others come from: promptrun keys create');
  }
  const end = delimiterFor(request);
  io.err(
    [
      `curl -sS -X POST ${singleQuoted(`${connection.embedded ? LOCAL_BASE_URL : connection.baseUrl}/runs`)} \\`,
      '  -H "Authorization: Bearer $PROMPTRUN_API_KEY" \\',
      "  -H 'Content-Type: application/json' \\",
      `  --data-binary @- <<'${end}'`,
      withoutHiddenControls(body),
      end,
      '',
    ].join('\n'),
  );
  return EXIT.ok;
}

/** A word that stands nowhere in what was given, so that nothing in it can end the here-document. */
function delimiterFor({ text, options }: RunRequest): string {
  const contents = [...text, ...options].flat().join('\n');
  let delimiter = 'END_OF_BODY';
  while (contents.includes(delimiter)) delimiter += '_';
  return delimiter;
}

/** Pictures by name, since nobody reads base64. */
function forPeople(body: string, { images }: RunRequest): string {
  const labels = images.flatMap(image =>
    image.kind === 'url' ? [] : [`<${image.size} bytes of ${image.name}>`],
  );
  const whole = JSON.parse(body) as { inputs: { imageInputs?: { base64?: string }[] } };
  for (const image of whole.inputs.imageInputs ?? []) {
    if (image.base64 !== undefined) image.base64 = labels.shift() ?? '';
  }
  return JSON.stringify(whole, undefined, 2);
}
