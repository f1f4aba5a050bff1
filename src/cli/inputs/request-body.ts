import { createHash } from 'node:crypto';
import type { RequestBody } from '../../client/transport.ts';
import { byKey } from '../core/json-value.ts';
import type { UncountedRequest } from '../core/recorder.ts';
import type { ImageSource } from './images/image-source.ts';

/** A run to create, with everything that is sent. */
export interface RunRequest {
  readonly promptVersionId: string;
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly ImageSource[];
  readonly options: ReadonlyMap<string, string>;
  /** The model given in place of the prompt's own; part of what recordings know a run by, never sent. */
  readonly model?: string;
  /** SHA-256 of the schema that the output is checked against; likewise. */
  readonly schema?: string;
  /** Which of several equal requests it is, from 1; counted by whoever records where absent. */
  readonly repetition?: number;
}

/** The body of `POST /runs`, whose images are read from disk while it is sent. */
export interface RunBody {
  readonly promptVersionId: string;
  readonly body: RequestBody;
  /** SHA-256 of texts, images and options, hexadecimal. */
  readonly digest: string;
  /** As recordings know it. */
  readonly recorded: UncountedRequest;
}

/** A piece of the body: text as it is, or an image that becomes base64. */
type Part = string | Extract<ImageSource, { kind: 'bytes' }>;

/** Encodes a request; what is empty is left out. */
export function buildRunBody(request: RunRequest): RunBody {
  const parts = partsOf(request);
  return {
    promptVersionId: request.promptVersionId,
    body: {
      length: parts.reduce((length, part) => length + encodedLength(part), 0),
      chunks: () => encode(parts),
      ...(parts.every(part => typeof part === 'string') && { text: parts.join('') }),
    },
    digest: requestDigest(request),
    recorded: recordedRequest(request),
  };
}

function recordedRequest(request: RunRequest): UncountedRequest {
  const { promptVersionId, text, images, options, model = null, schema = null, repetition } = request;
  return {
    promptVersionId,
    textInputs: Object.fromEntries(text),
    imageInputs: images.map(image => (image.kind === 'url' ? image.url : image.sha256)),
    runOptions: Object.fromEntries(options),
    model,
    schema,
    ...(repetition !== undefined && { repetition }),
  };
}

function partsOf({ promptVersionId, text, images, options }: RunRequest): Part[] {
  const inputs: Part[][] = [
    ...(text.size > 0 ? [[`"textInputs":${mapJson(text)}`]] : []),
    ...(images.length > 0 ? [['"imageInputs":[', ...joined(images.map(imageParts)), ']']] : []),
  ];
  return [
    `{"promptVersionId":${JSON.stringify(promptVersionId)},"inputs":{`,
    ...joined(inputs),
    options.size > 0 ? `},"runOptions":${mapJson(options)}}` : '}}',
  ];
}

function imageParts(image: ImageSource): Part[] {
  return image.kind === 'url'
    ? [`{"type":"url","url":${JSON.stringify(image.url)}}`]
    : ['{"type":"base64","base64":"', image, '"}'];
}

function joined(groups: readonly Part[][]): Part[] {
  return groups.flatMap((group, at) => (at === 0 ? group : [',', ...group]));
}

/** Every key is a name like any other, `__proto__` too. */
function mapJson(map: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries(map));
}

function encodedLength(part: Part): number {
  return typeof part === 'string' ? Buffer.byteLength(part) : Math.ceil(part.size / 3) * 4;
}

async function* encode(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (typeof part === 'string') yield Buffer.from(part);
    else yield* base64Of(part.chunks());
  }
}

/** Encodes bytes as they come: three make four characters, and what is left over waits for the next piece. */
async function* base64Of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
    rest = Buffer.from(bytes.subarray(whole));
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** SHA-256 of what a run is made from, hexadecimal: texts, images by their content, and options. */
export function requestDigest({ text, images, options }: RunRequest): string {
  const content = [
    [...text].toSorted(byKey),
    images.map(image => (image.kind === 'url' ? image.url : image.sha256)),
    [...options].toSorted(byKey),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
