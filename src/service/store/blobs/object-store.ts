import { Readable } from 'node:stream';
import type { HttpAnswer } from '../../../models/outgoing/open-http.ts';
import { explainFaultWithoutAddress } from '../../../net/connection-fault.ts';
import type { Clock } from '../../core/clock.ts';
import { ObjectStoreError } from '../store-errors.ts';
import type { Blobs, ByteRange } from './blobs.ts';
import { Bucket, type BucketRequest, computeSha256 } from './bucket.ts';
import type { BucketLocation } from './bucket-location.ts';
import { findElementText, listElementTexts } from './xml.ts';

/** Size of the parts of a multipart upload, in bytes. Larger objects are uploaded in parts. */
const UPLOAD_PART_BYTES = 16 * 1024 * 1024;

/** Interval at which an unavailable store is probed. */
const PROBE_INTERVAL_MS = 1000;

/**
 * Blobs in an object store. After a fault, requests fail at once until a probe in the background
 * succeeds.
 */
export class ObjectStore {
  readonly location: BucketLocation;
  readonly #bucket: Bucket;
  readonly #clock: Clock;
  readonly #keyPrefix: string;
  readonly #closeController = new AbortController();
  #fault: ObjectStoreError | undefined;

  /**
   * @param options.keyPrefix the unguessable beginning of all keys, after the prefix of the
   * location /
   */
  constructor({
    location,
    keyPrefix,
    clock,
  }: { location: BucketLocation; keyPrefix: string; clock: Clock }) {
    this.location = location;
    this.#bucket = new Bucket(location, clock);
    this.#clock = clock;
    this.#keyPrefix = `${location.prefix}${keyPrefix}`;
  }

  /** True from the first fault until the store answers again. */
  get isUnavailable(): boolean {
    return this.#fault !== undefined;
  }

  /** Probes the store. @throws {ObjectStoreError} if it can't be used */
  async probe(): Promise<void> {
    await this.#runUnlessUnavailable(() => this.#probe());
  }

  close(): void {
    this.#closeController.abort();
  }

  createBlobs(collection: string): Blobs {
    const folder = `${this.#keyPrefix}/${collection}/`;
    const list = async (name: string): Promise<ListedObject[]> =>
      (await this.#list(`${folder}${name}`)).map(({ key, ...rest }) => ({
        ...rest,
        key: key.slice(folder.length),
      }));
    return {
      write: (name, bytes, mediaType) =>
        this.#runUnlessUnavailable(() => this.#write(folder + name, bytes, mediaType)),
      open: (name, range) => this.#runUnlessUnavailable(() => this.#open(folder + name, range)),
      remove: name =>
        this.#runUnlessUnavailable(async () => {
          const namedObjects = (await list(name)).filter(
            ({ key }) => key === name || key.startsWith(`${name}/`),
          );
          for (const { key } of namedObjects) await this.#delete({ key: folder + key });
        }),
      listWrittenBefore: time =>
        this.#runUnlessUnavailable(async () => {
          const oldObjects = (await list('')).filter(({ writtenAt }) => writtenAt < time);
          return [...new Set(oldObjects.map(({ key }) => key.split('/', 1)[0] ?? ''))];
        }),
    };
  }

  async #runUnlessUnavailable<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fault) throw this.#fault;
    try {
      return await work();
    } catch (error) {
      if (error instanceof ObjectStoreError && !this.#closeController.signal.aborted) {
        this.#markUnavailable(error);
      }
      throw error;
    }
  }

  #markUnavailable(fault: ObjectStoreError): void {
    if (this.#fault) return;
    this.#fault = fault;
    void this.#probeUntilAvailable();
  }

  async #probeUntilAvailable(): Promise<void> {
    const { signal } = this.#closeController;
    while (this.#fault && !signal.aborted) {
      await this.#clock.sleep(PROBE_INTERVAL_MS, signal).catch(() => {});
      const isBack = await this.#probe().then(
        () => true,
        () => false,
      );
      if (isBack) this.#fault = undefined;
    }
  }

  async #probe(): Promise<void> {
    await this.#bucket.readXml({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1' } });
  }

  async #write(key: string, bytes: Uint8Array, mediaType: string): Promise<void> {
    if (bytes.byteLength > UPLOAD_PART_BYTES) return await this.#writeParts(key, bytes, mediaType);
    const headers = {
      'content-type': mediaType,
      'x-amz-checksum-sha256': await computeChecksum(bytes),
    };
    (await this.#bucket.send({ method: 'PUT', key, headers, body: bytes }))?.discard();
  }

  async #writeParts(key: string, bytes: Uint8Array, mediaType: string): Promise<void> {
    const headers = { 'content-type': mediaType, 'x-amz-checksum-algorithm': 'SHA256' };
    const creationXml = await this.#bucket.readXml({
      method: 'POST',
      key,
      query: { uploads: '' },
      headers,
    });

    const uploadId = findElementText(creationXml, 'UploadId') ?? '';
    try {
      const parts: string[] = [];
      for (let from = 0; from < bytes.byteLength; from += UPLOAD_PART_BYTES) {
        const body = bytes.subarray(from, from + UPLOAD_PART_BYTES);
        const partNumber = String(parts.length + 1);
        const checksum = await computeChecksum(body);
        const query = { partNumber, uploadId };
        const upload = {
          method: 'PUT',
          key,
          query,
          headers: { 'x-amz-checksum-sha256': checksum },
          body,
        } as const;
        const answer = await this.#bucket.send(upload);
        answer?.discard();
        const etag = (answer?.headers['etag'] ?? '').replace(/["&<>]/g, '');
        parts.push(
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${etag}"</ETag><ChecksumSHA256>${checksum}</ChecksumSHA256></Part>`,
        );
      }

      const partList = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
      await this.#bucket.readXml({
        method: 'POST',
        key,
        query: { uploadId },
        body: Buffer.from(partList),
      });
    } catch (error) {
      await this.#delete({ key, query: { uploadId } }).catch(() => {});
      throw error;
    }
  }

  async #open(key: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    const headers = range && { range: `bytes=${range.from}-${range.to}` };
    const answer = await this.#bucket.send({ method: 'GET', key, ...(headers && { headers }) });
    if (!answer) return undefined;
    const body = Readable.from(readRequestedBytes(answer, range), { objectMode: false });
    // Frees the connection even if nothing is read.
    body.once('close', answer.discard);
    return body;
  }

  async #delete(object: Pick<BucketRequest, 'key' | 'query'>): Promise<void> {
    (await this.#bucket.send({ ...object, method: 'DELETE' }))?.discard();
  }

  async #list(prefix: string): Promise<ListedObject[]> {
    const objects: ListedObject[] = [];
    let continuationToken: string | undefined;
    do {
      const page = {
        ...(continuationToken !== undefined && { 'continuation-token': continuationToken }),
      };
      const xml = await this.#bucket.readXml({
        method: 'GET',
        query: { 'list-type': '2', prefix, ...page },
      });
      objects.push(...parseListedObjects(xml));
      continuationToken =
        findElementText(xml, 'IsTruncated') === 'true'
          ? findElementText(xml, 'NextContinuationToken')
          : undefined;
    } while (continuationToken !== undefined);

    return objects;
  }
}

/** Yields exactly the requested bytes, even if the store answers with the whole object. */
async function* readRequestedBytes(
  answer: HttpAnswer,
  range: ByteRange | undefined,
): AsyncGenerator<Uint8Array> {
  let bytesToSkip = range && answer.status !== 206 ? range.from : 0;
  let remainingBytes = range ? range.to - range.from + 1 : Number.POSITIVE_INFINITY;
  try {
    for await (const chunk of answer.body) {
      const piece = chunk.subarray(bytesToSkip, bytesToSkip + remainingBytes);
      bytesToSkip = Math.max(0, bytesToSkip - chunk.length);
      remainingBytes -= piece.length;
      if (piece.length > 0) yield piece;
      if (remainingBytes <= 0) return;
    }
  } catch (error) {
    throw new ObjectStoreError(
      `the object store of media is unavailable: ${explainFaultWithoutAddress(error)}`,
      {
        cause: error,
      },
    );
  }
}

interface ListedObject {
  readonly key: string;
  /** The time in milliseconds since the Unix epoch. */
  readonly writtenAt: number;
}

function parseListedObjects(xml: string): ListedObject[] {
  const times = listElementTexts(xml, 'LastModified');
  return listElementTexts(xml, 'Key').map((key, index) => ({
    key,
    writtenAt: Date.parse(times[index] ?? ''),
  }));
}

async function computeChecksum(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await computeSha256(bytes)).toString('base64');
}
