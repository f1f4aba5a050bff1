import { randomUUID } from 'node:crypto';
import { text as textOfStream } from 'node:stream/consumers';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import type { CapFlags } from '../../core/shared-flags.ts';
import { parseCaps } from '../../creation/spending/caps.ts';
import { Forecast } from '../../creation/spending/forecast.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { printValue } from '../../outputs/print-json.ts';
import { withoutHiddenControls } from '../../terminal/sanitise.ts';
import { detectShell, quoteIfNeeded, quoteWord, type Shell } from '../../terminal/shell-words.ts';
import type { PreparedRun } from './prepare-run.ts';

/** The default address of `promptrun serve`. */
const DEFAULT_SERVE_URL = 'http://127.0.0.1:8787/v1';

/**
 * Prints the request body, and on standard error a curl command that sends it. Creates nothing.
 *
 * @throws {CliError} if the embedded service would refuse the request
 */
export async function printDryRun(
  ctx: Context,
  prepared: PreparedRun,
  flags: CapFlags,
): Promise<ExitCode> {
  const { connection, request, estimatedCredits } = prepared;
  const { io, globals } = ctx;
  const creation = buildRunBody(request);
  const forecast = new Forecast();
  await forecast.add(connection, creation, { estimatedCredits });

  const body = await textOfStream(creation.body.chunks());
  if (globals.query !== undefined) {
    await printValue(ctx, JSON.parse(body));
  } else {
    await io.out(`${io.stdout.isTerminal ? formatReadableBody(body, request) : body}\n`);
  }

  if (globals.quiet) return EXIT.ok;

  io.note(`note: ${forecast.format(parseCaps(flags))}`);

  if (connection.isEmbedded) {
    io.note('note: before you use curl with the embedded service, start it: promptrun serve');
    io.note('note: it prints a key on its first start; create more with: promptrun keys create');
  }

  const address = `${connection.isEmbedded ? DEFAULT_SERVE_URL : connection.baseUrl}/runs`;
  const shell = detectShell(ctx.env);
  const readsFiles = io.stderr.isTerminal && request.images.some(isInFile);
  const command =
    shell === 'posix'
      ? buildPosixCommand(address, { body, request, readsFiles })
      : buildWindowsCommand(address, shell);
  io.err(command);

  return EXIT.ok;
}

/**
 * Returns a command with the body in a here-document, which reads images from their files if
 * `readsFiles`.
 */
function buildPosixCommand(
  address: string,
  { body, request, readsFiles }: { body: string; request: RunRequest; readsFiles: boolean },
): string {
  const delimiter = chooseDelimiter(request);
  return [
    `curl -sS -X POST ${quoteWord(address, 'posix')} \\`,
    '  -H "Authorization: Bearer $PROMPTRUN_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  --data-binary @- <<${readsFiles ? delimiter : `'${delimiter}'`}`,
    withoutHiddenControls(readsFiles ? toExpandingBody(body, request) : body),
    delimiter,
    '',
  ].join('\n');
}

/**
 * Returns a command for Windows, whose shells have no here-documents: curl reads the body from a
 * file.
 */
function buildWindowsCommand(address: string, shell: Exclude<Shell, 'posix'>): string {
  const key = shell === 'cmd' ? '%PROMPTRUN_API_KEY%' : '$env:PROMPTRUN_API_KEY';
  const headers = `-H "Authorization: Bearer ${key}" -H "Content-Type: application/json"`;
  return `With the body in body.json, as UTF-8:\ncurl.exe -sS -X POST ${quoteWord(address, shell)} ${headers} --data-binary "@body.json"\n`;
}

function isInFile(image: ImageSource): image is ImageSource & { readonly filePath: string } {
  return image.kind === 'bytes' && image.filePath !== undefined;
}

/**
 * Returns the body for an expanding here-document: the shell reads images from their files, and
 * everything else is escaped.
 */
function toExpandingBody(body: string, { images }: RunRequest): string {
  const parsedBody = parseBody(body);
  const sources = images.filter(image => image.kind === 'bytes');
  const commandsByPlaceholder = new Map<string, string>();
  for (const [index, image] of listEncodedImages(parsedBody).entries()) {
    const source = sources[index];
    if (source === undefined || !isInFile(source)) continue;

    const placeholder = `image-${randomUUID()}`;
    const file = quoteIfNeeded(source.filePath, 'posix');
    commandsByPlaceholder.set(placeholder, `$(base64 < ${file} | tr -d '\\n')`);
    image.base64 = placeholder;
  }

  let expandingBody = JSON.stringify(parsedBody).replaceAll(/[\\$`]/gu, '\\$&');
  for (const [placeholder, command] of commandsByPlaceholder) {
    expandingBody = expandingBody.replace(placeholder, () => command);
  }
  return expandingBody;
}

/** The part of a request body that contains its images. */
interface RunBodyJson {
  readonly inputs?: { readonly imageInputs?: readonly { base64?: string }[] };
}

function parseBody(body: string): RunBodyJson {
  return JSON.parse(body) as RunBodyJson;
}

function listEncodedImages({ inputs }: RunBodyJson): { base64?: string }[] {
  return (inputs?.imageInputs ?? []).filter(({ base64 }) => base64 !== undefined);
}

/** Returns a delimiter that no input and option contains, so that none can end the here-document. */
function chooseDelimiter({ text, options }: RunRequest): string {
  const contents = [...text, ...options].flat().join('\n');
  let delimiter = 'END_OF_BODY';
  while (contents.includes(delimiter)) delimiter += '_';
  return delimiter;
}

/** Returns the body with the sizes and names of images instead of unreadable base64. */
function formatReadableBody(body: string, { images }: RunRequest): string {
  const parsedBody = parseBody(body);
  const sources = images.filter(image => image.kind === 'bytes');
  for (const [index, image] of listEncodedImages(parsedBody).entries()) {
    const source = sources[index];
    image.base64 = source === undefined ? '' : `<${source.size} bytes of ${source.name}>`;
  }
  return JSON.stringify(parsedBody, undefined, 2);
}
