import { parseJson } from '../../../files/formats/json.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { isUuid } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { configError, notFoundError, usageError } from '../../core/errors.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { askOfRun, isUnknownRunError } from './named-run.ts';

/** The parts of a run's request that are kept. */
export interface RequestOfRun {
  readonly runId: string;
  readonly promptVersionId: string;
  readonly text: ReadonlyMap<string, string>;
  /** The images, in order. */
  readonly images: readonly KeptImage[];
  readonly options: ReadonlyMap<string, string>;
}

/** The address in manifests of the embedded service's runs; nothing listens there. */
const EMBEDDED_URL = 'http://localhost/v1';

/** Maximum length of a manifest, in UTF-16 units. */
const MAX_REQUEST_CHARACTERS = 64 * 1024 * 1024;

/** An image as `--image` takes it, or the digest of one that the user must pass again. */
export type KeptImage =
  | { readonly image: string }
  | { readonly sha256: string; readonly name: string };

/**
 * Fetches the request that a service keeps of a run's creation.
 *
 * @throws {CliError} exit 4 if it does not keep it
 */
export async function readRequestFromService(
  ctx: Context,
  connection: Connection,
  runId: string,
): Promise<RequestOfRun> {
  try {
    const requestPromise = connection.client.runs.request(runId, { signal: ctx.signal });
    const keptRequest = await askOfRun(ctx, connection, { verb: 'rerun', runId }, requestPromise);
    const runName = `run ${runId}`;

    // Anything but an id could name a file on this machine.
    if (!isUuid(keptRequest.promptVersionId)) throw damagedRequestError(runName);

    return {
      runId,
      promptVersionId: keptRequest.promptVersionId,
      ...readKeptInputs(keptRequest.inputs, runName),
      options: readTextEntries(keptRequest.runOptions ?? {}, runName),
    };
  } catch (error) {
    if (!isUnknownRunError(error)) throw error;
    throw notFoundError(
      `run ${toOneLine(runId)} can't be run again: ${toOneLine(error.message)}`,
      `If it was saved with --save: ${connection.formatCommand('runs', 'rerun', `./${runId}.json`)}`,
    );
  }
}

function readKeptInputs(inputs: unknown, source: string): Pick<RequestOfRun, 'text' | 'images'> {
  const { textInputs = {}, imageInputs = [] } = isJsonObject(inputs) ? inputs : {};
  if (!Array.isArray(imageInputs)) throw damagedRequestError(source);
  return {
    text: readTextEntries(textInputs, source),
    images: imageInputs.map((image: unknown) => ({ image: readInlineImage(image, source) })),
  };
}

/** Returns an image, never as a file name: a service must not choose which files are read here. */
function readInlineImage(image: unknown, source: string): string {
  const { type, url, base64 } = isJsonObject(image) ? image : {};
  if (type === 'url' && typeof url === 'string' && /^https:/iu.test(url)) return url;
  if (type === 'base64' && typeof base64 === 'string') return `data:;base64,${base64}`;
  throw damagedRequestError(source);
}

function readTextEntries(value: unknown, source: string): Map<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  if (!isJsonObject(value) || entries.some(([, text]) => typeof text !== 'string')) {
    throw damagedRequestError(source);
  }
  return new Map(entries as [string, string][]);
}

/**
 * Returns the request in a manifest.
 *
 * @throws {CliError} exit 2 if it is damaged or from another service than the configured one, exit
 * 4 if it has no request
 */
export async function readRequestFromManifest(
  ctx: Context,
  connection: Connection,
  file: string,
): Promise<RequestOfRun> {
  const manifest = await readManifest(ctx, file);
  const { baseUrl, runId, promptVersionId, textInputs, imageInputs, runOptions } = manifest;
  if (typeof runId !== 'string' || typeof baseUrl !== 'string') throw damagedRequestError(file);

  if (typeof promptVersionId !== 'string' || !isUuid(promptVersionId)) {
    throw damagedRequestError(file);
  }

  if (baseUrl !== connection.baseUrl) {
    throw usageError(
      `${file} is from ${describeService(baseUrl)}, but ${describeService(connection.baseUrl)} is configured`,
      'Choose its service with --profile or --base-url. Nothing was sent.',
    );
  }

  if (textInputs === null || imageInputs === null || runOptions === null) {
    throw notFoundError(
      `${file} does not contain the request of its run`,
      'Only the command that creates a run can save its request: run it with --save.',
    );
  }

  if (!Array.isArray(imageInputs)) throw damagedRequestError(file);

  return {
    runId,
    promptVersionId,
    text: readTextEntries(textInputs, file),
    images: imageInputs.map(image => readKeptImage(image, file)),
    options: readTextEntries(runOptions, file),
  };
}

function describeService(baseUrl: string): string {
  return baseUrl === EMBEDDED_URL ? 'the embedded service (profile local)' : toOneLine(baseUrl);
}

function readKeptImage(image: unknown, file: string): KeptImage {
  if (!isJsonObject(image)) throw damagedRequestError(file);
  const { url, sha256, name } = image;
  if (typeof url === 'string' && /^https:/iu.test(url)) return { image: url };
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/u.test(sha256)) {
    throw damagedRequestError(file);
  }
  return { sha256, name: typeof name === 'string' ? name : '' };
}

async function readManifest(
  ctx: Context,
  file: string,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readTextFile(file, ctx.cwd, 'runs rerun');
  if (text.length > MAX_REQUEST_CHARACTERS) throw damagedRequestError(file);
  const value = parseJson(text);
  if (!isJsonObject(value)) throw damagedRequestError(file);
  return value;
}

function damagedRequestError(source: string): Error {
  return configError(`${toOneLine(source)} does not contain the request of a run, or is damaged`);
}
