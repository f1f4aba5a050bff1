import { createHash } from 'node:crypto';
import type { RequestBody } from '../../client/transport.ts';
import { compareByKey } from '../../files/formats/json-fields.ts';
import type { CreateRunRequest, ImageInput } from '../../wire/index.ts';
import type { UncountedRequest } from '../recordings/recorder.ts';
import { type ImageSource, readImageBytes } from './images/image-source.ts';

export interface RunRequest {
  readonly promptVersionId: string;
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly ImageSource[];
  readonly options: ReadonlyMap<string, string>;
  /** The model to use instead of the prompt's own. Part of the recording's key; never sent. */
  readonly model?: string;
  /** SHA-256 of the output's schema. Part of the recording's key; never sent. */
  readonly schemaDigest?: string;
  /** The number among equal requests, from 1; if omitted, the recorder counts. */
  readonly repetition?: number;
}

/** The body of `POST /runs`. Its images are read from disk while it is sent. */
export interface RunBody {
  readonly promptVersionId: string;
  readonly body: RequestBody;
  /** Hexadecimal SHA-256 of texts, images and options. */
  readonly digest: string;
  /** The request in the form of recordings. */
  readonly recordedRequest: UncountedRequest;
  /** Reads the images and returns the value of the body, for this machine's own service. */
  readRequest(): Promise<CreateRunRequest>;
}

/** A piece of the body: text, or an image to encode as base64. */
type BodyPart = string | Extract<ImageSource, { kind: 'bytes' }>;

/** Encodes a request and omits empty fields. */
export function buildRunBody(request: RunRequest): RunBody {
  const parts = buildBodyParts(request);
  return {
    promptVersionId: request.promptVersionId,
    body: {
      length: parts.reduce((length, part) => length + computeEncodedLength(part), 0),
      chunks: () => encodeBodyChunks(parts),
      ...(parts.every(part => typeof part === 'string') && { text: parts.join('') }),
    },
    digest: computeRequestDigest(request),
    recordedRequest: toRecordedRequest(request),
    readRequest: () => toCreateRunRequest(request),
  };
}

async function toCreateRunRequest({
  promptVersionId,
  text,
  images,
  options,
}: RunRequest): Promise<CreateRunRequest> {
  const imageInputs: ImageInput[] = [];
  for (const image of images) imageInputs.push(await toImageInput(image));
  return {
    promptVersionId,
    inputs: {
      ...(text.size > 0 && { textInputs: Object.fromEntries(text) }),
      ...(imageInputs.length > 0 && { imageInputs }),
    },
    ...(options.size > 0 && { runOptions: Object.fromEntries(options) }),
  };
}

async function toImageInput(image: ImageSource): Promise<ImageInput> {
  if (image.kind === 'url') return { type: 'url', url: image.url };
  return { type: 'base64', base64: (await readImageBytes(image)).toString('base64') };
}

function toRecordedRequest(request: RunRequest): UncountedRequest {
  const {
    promptVersionId,
    text,
    images,
    options,
    model = null,
    schemaDigest = null,
    repetition,
  } = request;
  return {
    promptVersionId,
    textInputs: Object.fromEntries(text),
    imageInputs: images.map(image => (image.kind === 'url' ? image.url : image.sha256)),
    runOptions: Object.fromEntries(options),
    model,
    schema: schemaDigest,
    ...(repetition !== undefined && { repetition }),
  };
}

function buildBodyParts({ promptVersionId, text, images, options }: RunRequest): BodyPart[] {
  const inputs: BodyPart[][] = [];
  if (text.size > 0) inputs.push([`"textInputs":${encodeMap(text)}`]);

  if (images.length > 0) {
    inputs.push(['"imageInputs":[', ...joinWithCommas(images.map(buildImageParts)), ']']);
  }

  return [
    `{"promptVersionId":${JSON.stringify(promptVersionId)},"inputs":{`,
    ...joinWithCommas(inputs),
    options.size > 0 ? `},"runOptions":${encodeMap(options)}}` : '}}',
  ];
}

function buildImageParts(image: ImageSource): BodyPart[] {
  return image.kind === 'url'
    ? [`{"type":"url","url":${JSON.stringify(image.url)}}`]
    : ['{"type":"base64","base64":"', image, '"}'];
}

function joinWithCommas(groups: readonly BodyPart[][]): BodyPart[] {
  return groups.flatMap((group, index) => (index === 0 ? group : [',', ...group]));
}

/** Serialises a map, in which `__proto__` is a key like any other. */
function encodeMap(map: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries(map));
}

function computeEncodedLength(part: BodyPart): number {
  return typeof part === 'string' ? Buffer.byteLength(part) : Math.ceil(part.size / 3) * 4;
}

async function* encodeBodyChunks(parts: readonly BodyPart[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (typeof part === 'string') {
      yield Buffer.from(part);
    } else {
      yield* encodeBase64(part.chunks());
    }
  }
}

/**
 * Encodes bytes as base64 while they arrive. Three bytes make four characters; a remainder waits
 * for the next piece.
 */
async function* encodeBase64(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let remainder = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = remainder.length === 0 ? chunk : Buffer.concat([remainder, chunk]);
    const wholeLength = bytes.length - (bytes.length % 3);
    if (wholeLength > 0) yield encodeBase64Bytes(bytes.subarray(0, wholeLength));
    remainder = Buffer.from(bytes.subarray(wholeLength));
  }
  if (remainder.length > 0) yield encodeBase64Bytes(remainder);
}

/**
 * Bytes that are encoded as one string: small ones are allocated and collected for a fraction of
 * the price of large ones. Divisible by 3, so that no string but the last ends in padding.
 */
const BASE64_SLICE_BYTES = 12 * 1024;

function encodeBase64Bytes(bytes: Buffer): Uint8Array {
  const encoded = Buffer.allocUnsafeSlow(Math.ceil(bytes.length / 3) * 4);
  let offset = 0;
  for (let start = 0; start < bytes.length; start += BASE64_SLICE_BYTES) {
    const part = bytes.toString('base64', start, start + BASE64_SLICE_BYTES);
    offset += encoded.write(part, offset, 'latin1');
  }

  return encoded;
}

/** Returns the hexadecimal SHA-256 of a request's texts, images and options. */
export function computeRequestDigest(request: RunRequest): string {
  return createHash('sha256')
    .update(JSON.stringify(getRequestContent(request)))
    .digest('hex');
}

/**
 * Returns the texts, images by content, and options of a request, in an order that doesn't depend
 * on how they were written.
 */
export function getRequestContent({ text, images, options }: RunRequest): unknown[] {
  return [
    [...text].toSorted(compareByKey),
    images.map(image => (image.kind === 'url' ? image.url : image.sha256)),
    [...options].toSorted(compareByKey),
  ];
}
