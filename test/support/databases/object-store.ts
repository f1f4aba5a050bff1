import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface StoredObject {
  readonly bytes: Buffer;
  readonly type: string | undefined;
  /** The SHA-256 that came with it; of an object in parts, the count of parts with one. */
  readonly checksum: string | undefined;
  writtenAt: Date;
}

interface SignedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const hash = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * Returns the signature (version 4) that a request must have, by the headers that its own names.
 */
export function signRequest({ method, target, headers }: SignedRequest, secret: string): string {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+),\s*SignedHeaders=([^,]+)/.exec(String(headers['authorization'])) ??
    [];
  const [date = '', region = '', service = ''] = scope.split('/');
  const [path = '', query = ''] = target.split('?');
  const parameters = [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort();
  const canonical = [
    method,
    path
      .split('/')
      .map(part => encoded(decodeURIComponent(part)))
      .join('/'),
    parameters.join('&'),
    ...names.split(';').map(
      name =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/\s+/g, ' ')}`,
    ),
    '',
    names,
    String(headers['x-amz-content-sha256']),
  ].join('\n');
  const signed = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hash(canonical)].join(
    '\n',
  );
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(
    hmac,
    `AWS4${secret}`,
  );

  return hmac(key, signed).toString('hex');
}

const KEY = { accessKeyId: 'AKIAOFTHETESTS', secretAccessKey: 'secret/of+the/tests' };
const REGION = 'eu-test-1';
const BUCKET = 'team';

/** Small, so that a list has several pages. */
const PAGE = 2;

/**
 * An object store that speaks S3 and takes nothing that is not signed, in memory and on a free
 * port.
 */
export class TestObjectStore {
  readonly objects = new Map<string, StoredObject>();
  /** The requests that it answered, such as `PUT key`. */
  readonly asked: string[] = [];
  readonly #uploads = new Map<string, Map<number, StoredObject>>();
  #server: Server | undefined;
  #port = 0;

  static async start(): Promise<TestObjectStore> {
    const store = new TestObjectStore();
    await store.start();
    return store;
  }

  /** The variables of who may use it. */
  get env(): Record<string, string> {
    return {
      AWS_ACCESS_KEY_ID: KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey,
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${this.#port}`,
    };
  }

  /** Host and port, which must stay secret. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Starts again at the same port, with the same objects. */
  async start(): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers } = request;
    const body = await buffer(request);
    const { pathname, searchParams: query } = new URL(target, 'http://store');
    const [, bucket = '', ...path] = decodeURIComponent(pathname).split('/');
    const key = path.join('/');
    const denial = findAccessDenial({ method, target, headers }, bucket, body);
    if (denial) return refuse(response, denial);

    this.asked.push(`${method} ${key || target.replace(/^[^?]*/, '')}`);
    const checksum = headers['x-amz-checksum-sha256'] as string | undefined;
    if (checksum !== undefined && checksum !== createHash('sha256').update(body).digest('base64')) {
      return refuse(response, [400, 'BadDigest', 'The SHA256 you specified did not match']);
    }

    if (key === '') return void response.end(this.#page(query));

    const type = headers['content-type'];
    const object: StoredObject = { bytes: body, type, checksum, writtenAt: new Date() };
    if (query.has('uploads') || query.has('uploadId')) {
      return this.#upload(method, key, query, object, response);
    }

    if (method === 'GET') return this.#get(key, headers.range, response);

    if (method === 'PUT') this.objects.set(key, object);
    if (method === 'DELETE') this.objects.delete(key);
    response.writeHead(method === 'PUT' ? 200 : 204).end();
  }

  #get(key: string, range: string | undefined, response: ServerResponse): void {
    const object = this.objects.get(key);
    if (!object) return refuse(response, [404, 'NoSuchKey', 'The specified key does not exist.']);

    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const bytes =
      from === undefined ? object.bytes : object.bytes.subarray(Number(from), Number(to) + 1);
    response
      .writeHead(from === undefined ? 200 : 206, { 'content-length': bytes.length })
      .end(bytes);
  }

  #page(query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? '';
    const keys = [...this.objects.keys()].filter(key => key.startsWith(prefix)).sort();
    const after = query.get('continuation-token');
    const left = after === null ? keys : keys.filter(key => key > after);
    const page = left.slice(0, PAGE);
    const contents = page.map(key => {
      const writtenAt = this.objects.get(key)?.writtenAt.toISOString();
      return `<Contents><Key>${key}</Key><LastModified>${writtenAt}</LastModified></Contents>`;
    });
    const isTruncated = page.length < left.length;
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';

    return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
  }

  #upload(
    method: string,
    key: string,
    query: URLSearchParams,
    object: StoredObject,
    response: ServerResponse,
  ): void {
    const id = query.get('uploadId') ?? `${key}/upload`;
    if (query.has('uploads')) {
      this.#uploads.set(id, new Map([[0, object]]));
      return void response.end(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }

    const parts = this.#uploads.get(id);
    if (!parts) return void response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');

    if (method === 'DELETE') {
      this.#uploads.delete(id);
      return void response.writeHead(204).end();
    }

    if (method === 'PUT') {
      parts.set(Number(query.get('partNumber')), object);
      return void response.writeHead(200, { etag: `"${hash(object.bytes)}"` }).end();
    }

    const sent = [...parts].filter(([number]) => number > 0).sort(([a], [b]) => a - b);
    const wanted = sent.map(
      ([number, { bytes, checksum }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>"${hash(bytes)}"</ETag><ChecksumSHA256>${checksum}</ChecksumSHA256></Part>`,
    );
    if (!object.bytes.toString().includes(`>${wanted.join('')}<`)) {
      // AWS too has sent the head of the answer before it knows.
      return void response.end(
        '<Error><Code>InvalidPart</Code><Message>A part could not be found</Message></Error>',
      );
    }

    const bytes = Buffer.concat(sent.map(([, part]) => part.bytes));
    this.objects.set(key, {
      ...object,
      bytes,
      type: parts.get(0)?.type,
      checksum: `${sent.length} parts`,
    });

    this.#uploads.delete(id);
    response.end('<CompleteMultipartUploadResult/>');
  }
}

type Refusal = readonly [status: number, code: string, message: string];

/**
 * Returns why a request may not be carried out, in the order in which S3 looks; undefined if it
 * may.
 */
function findAccessDenial(
  request: SignedRequest,
  bucket: string,
  body: Buffer,
): Refusal | undefined {
  const authorization = String(request.headers['authorization']);
  const [, signature] = /Signature=([0-9a-f]{64})$/.exec(authorization) ?? [];

  if (!authorization.includes(`Credential=${KEY.accessKeyId}/`)) {
    const id = /Credential=([^/]*)/.exec(authorization)?.[1];
    return [
      403,
      'InvalidAccessKeyId',
      `The AWS access key Id ${id} does not exist in our records.`,
    ];
  }

  if (!authorization.includes(`/${REGION}/s3/aws4_request`)) {
    const message = `The authorization header is malformed; the region is wrong; expecting '${REGION}'`;
    return [400, 'AuthorizationHeaderMalformed', message];
  }

  if (signature !== signRequest(request, KEY.secretAccessKey)) {
    return [403, 'SignatureDoesNotMatch', 'The request signature does not match'];
  }

  if (request.headers['x-amz-content-sha256'] !== hash(body)) {
    return [400, 'XAmzContentSHA256Mismatch', 'The body is not the one that was signed'];
  }

  if (bucket !== BUCKET) return [404, 'NoSuchBucket', 'The specified bucket does not exist'];
  return undefined;
}

function refuse(response: ServerResponse, [status, code, message]: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  );
}
