import { createHash } from 'node:crypto';
import { compareByKey } from '../../files/formats/json-fields.ts';
import type { RecordedRequest, UncountedRequest } from './recorder.ts';

/** Returns the digest that equal requests share, so that a replay finds the recording. */
export function computeRecordingKey(request: RecordedRequest): string {
  const { promptVersionId, textInputs, imageInputs, runOptions, model, schema, repetition } =
    request;
  const content = [
    promptVersionId.toLowerCase(),
    Object.entries(textInputs).toSorted(compareByKey),
    imageInputs,
    Object.entries(runOptions).toSorted(compareByKey),
    model,
    schema,
    repetition,
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** Returns the path and query of a URL below the base URL; undefined for any other URL. */
export function findPathBelow(baseUrl: string, url: string): string | undefined {
  return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
}

/** Returns the id of the run that a path is about, such as `/runs/<id>`. */
export function findRunIdInPath(requestPath: string): string | undefined {
  return /^\/runs\/([^/?]+)$/u.exec(requestPath)?.[1];
}

/** Returns true for the path of a list of runs, with or without a query. */
export function isRunListPath(requestPath: string): boolean {
  return /^\/runs(?:\?|$)/u.test(requestPath);
}

/**
 * Counts equal requests to tell them apart; a retry with the same idempotency key keeps its number.
 */
export class RequestCounter {
  readonly #counts = new Map<string, number>();
  readonly #requestByKey = new Map<string, RecordedRequest>();

  /** Returns the request with its number among equal ones. */
  add(idempotencyKey: string, request: UncountedRequest): RecordedRequest {
    const countedRequest =
      this.#requestByKey.get(idempotencyKey) ?? this.#assignRepetition(request);
    this.#requestByKey.set(idempotencyKey, countedRequest);
    return countedRequest;
  }

  /** Returns the request that was added with this key. */
  get(idempotencyKey: string | undefined): RecordedRequest | undefined {
    return this.#requestByKey.get(idempotencyKey ?? '');
  }

  #assignRepetition(request: UncountedRequest): RecordedRequest {
    const key = computeRecordingKey({ ...request, repetition: 0 });
    const repetition = request.repetition ?? (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, repetition);
    return { ...request, repetition };
  }
}
