import { AwsV4Signer } from 'aws4fetch';
import { type HttpAnswer, openHttp, USER_AGENT } from '../../../models/outgoing/open-http.ts';
import { readBody } from '../../../models/outgoing/read-body.ts';
import { explainFaultWithoutAddress } from '../../../net/connection-fault.ts';
import { computeBackoff, type RetryPolicy } from '../../../net/retry-policy.ts';
import type { Clock } from '../../core/clock.ts';
import { ObjectStoreError } from '../store-errors.ts';
import type { BucketLocation } from './bucket-location.ts';
import { findElementText } from './xml.ts';

/** A request to a bucket. All of these are idempotent, and retried after a temporary fault. */
export interface BucketRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Object key; undefined addresses the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Retries after temporary faults. A store that doesn't answer in time is not asked again. */
const RETRY_POLICY: RetryPolicy = {
  maxAttempts: 3,
  firstWaitMs: 200,
  maxWaitMs: 1000,
  backoffIsMinimum: false,
};

const TEMPORARY_STATUSES = new Set([429, 500, 502, 503, 504]);

/** Maximum time to wait for an answer or its next chunk, in milliseconds. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Minimum speed of an upload, on which its timeout depends. */
const MIN_UPLOAD_BYTES_PER_MS = 512;

/** Maximum size of an XML answer, in bytes. */
const MAX_XML_BYTES = 4 * 1024 * 1024;
const UNAVAILABLE_MESSAGE = 'the object store of media is unavailable';
const EMPTY_OBJECT = new Uint8Array();

/** A client for one bucket of an S3-compatible object store. */
export class Bucket {
  readonly #location: BucketLocation;
  readonly #clock: Clock;
  /** Signing keys derived from the secret, by day. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(location: BucketLocation, clock: Clock) {
    this.#location = location;
    this.#clock = clock;
  }

  /**
   * Sends a request and returns its answer; undefined if the object doesn't exist.
   *
   * @throws {ObjectStoreError} if the store refuses, or can't be reached
   */
  async send(request: BucketRequest): Promise<HttpAnswer | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#attempt(request);
      if (!(answer instanceof ObjectStoreError)) return answer;
      const waitMs = answer.isTemporary ? computeBackoff(RETRY_POLICY, { attempt }) : undefined;
      if (waitMs === undefined) throw answer;
      await this.#clock.sleep(waitMs);
    }
  }

  /**
   * Sends a request and returns its XML answer.
   *
   * @throws {ObjectStoreError} if the object doesn't exist, the store refuses, or can't be reached
   */
  async readXml(request: BucketRequest): Promise<string> {
    const answer = await this.send(request);
    if (answer === undefined) {
      throw new ObjectStoreError(`${UNAVAILABLE_MESSAGE}: it has no such object`);
    }

    const text = await this.#readText(answer);

    // Completing a multipart upload answers 200 before it is known to succeed.
    if (/<Error>/.test(text)) throw this.#refusalError(answer.status, text);
    return text;
  }

  async #attempt(request: BucketRequest): Promise<HttpAnswer | ObjectStoreError | undefined> {
    const { body = EMPTY_OBJECT } = request;
    const timeout = new AbortController();
    const timeoutMs = ANSWER_TIMEOUT_MS + body.byteLength / MIN_UPLOAD_BYTES_PER_MS;

    const timer = setTimeout(() => timeout.abort(new Error('no answer in time')), timeoutMs);
    try {
      const answer = await this.#open(request, timeout.signal);
      if (answer.status >= 200 && answer.status < 300) return answer;
      const text = await this.#readText(answer);
      // A 404 with this code means that the bucket is missing, not the object.
      const isMissing = answer.status === 404 && request.key !== undefined;
      if (isMissing && findXmlErrorCode(text) !== 'NoSuchBucket') return undefined;
      return this.#refusalError(answer.status, text);
    } catch (error) {
      if (error instanceof ObjectStoreError) return error;
      const isTemporary = !timeout.signal.aborted;
      return new ObjectStoreError(
        `${UNAVAILABLE_MESSAGE}: ${isTemporary ? explainFaultWithoutAddress(error) : 'no answer in time'}`,
        {
          isTemporary,
          cause: error,
        },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #open(
    { method, key, query, headers, body }: BucketRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { bucketUrl, region, accessKeyId, secretAccessKey, sessionToken, proxy } = this.#location;
    const url = new URL(`${bucketUrl}/${key ?? ''}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const signedRequest = await new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        'user-agent': USER_AGENT,
        ...headers,
        'x-amz-content-sha256': Buffer.from(await computeSha256(body ?? EMPTY_OBJECT)).toString(
          'hex',
        ),
      },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region,
      cache: this.#signingKeys,
      datetime: new Date(this.#clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    }).sign();

    return await openHttp({
      url: signedRequest.url,
      method,
      headers: Object.fromEntries(signedRequest.headers),
      // Some stores refuse a PUT or POST without a length.
      body: method === 'PUT' || method === 'POST' ? (body ?? EMPTY_OBJECT) : body,
      signal,
      proxy,
      idleTimeoutMs: ANSWER_TIMEOUT_MS,
    });
  }

  async #readText(answer: HttpAnswer): Promise<string> {
    try {
      return (await readBody(answer, MAX_XML_BYTES)).toString();
    } catch (error) {
      throw new ObjectStoreError(`${UNAVAILABLE_MESSAGE}: ${explainFaultWithoutAddress(error)}`, {
        isTemporary: true,
        cause: error,
      });
    }
  }

  /** Returns an error with the store's own message, without secrets and the address. */
  #refusalError(status: number, text: string): ObjectStoreError {
    const { bucketUrl, accessKeyId, secretAccessKey, sessionToken } = this.#location;
    const reasons = [findXmlErrorCode(text), findElementText(text, 'Message')].filter(
      reason => reason !== undefined,
    );
    const hiddenTexts = [secretAccessKey, accessKeyId, sessionToken, new URL(bucketUrl).host];
    const message = hiddenTexts.reduce<string>(
      (masked, hidden) => (hidden === undefined ? masked : masked.replaceAll(hidden, '***')),
      reasons.length === 0 ? 'without a reason' : reasons.join(': '),
    );
    const isTemporary = TEMPORARY_STATUSES.has(status);

    return new ObjectStoreError(`${UNAVAILABLE_MESSAGE}: it answered ${status}, ${message}`, {
      isTemporary,
      isRefusal: status < 500 && !isTemporary,
    });
  }
}

function findXmlErrorCode(xml: string): string | undefined {
  return findElementText(xml, 'Code');
}

/** Returns the SHA-256 of bytes, computed off the thread that answers requests. */
export async function computeSha256(bytes: Uint8Array): Promise<ArrayBuffer> {
  return await crypto.subtle.digest('SHA-256', bytes);
}
