import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { codeOf } from '../../../files/error-utils.ts';
import { replaceFile } from '../../../files/write-file.ts';
import { isObject } from '../../core/json-value.ts';
import type { RecordedRequest, UncountedRequest } from '../../core/recorder.ts';
import { configError } from '../../errors.ts';

/** What a service answered, as it came. */
export interface RecordedAnswer {
  readonly httpStatus: number;
  /** The envelope. */
  readonly body: unknown;
}

/** A picture or video of a run's outputs. */
export interface RecordedMedia {
  readonly url: string;
  readonly sha256: string;
  readonly contentType: string | null;
}

/** One creation and how it ended. */
export interface Recording {
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
  readonly media: readonly RecordedMedia[];
}

/** Identifies a request among recordings. */
export function recordingKey(request: RecordedRequest): string {
  const { promptVersionId, textInputs, imageInputs, runOptions, model, schema, repetition } = request;
  const content = [
    promptVersionId.toLowerCase(),
    Object.entries(textInputs).toSorted(byKey),
    imageInputs,
    Object.entries(runOptions).toSorted(byKey),
    model,
    schema,
    repetition,
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** Distinguishes equal requests by counting them; one that is sent again under its key stays the one it was. */
export class RequestCounter {
  readonly #seen = new Map<string, number>();
  readonly #known = new Map<string, RecordedRequest>();

  counted(idempotencyKey: string, request: UncountedRequest): RecordedRequest {
    const known = this.#known.get(idempotencyKey);
    if (known !== undefined) {
      return known;
    }
    const key = recordingKey({ ...request, repetition: 0 });
    const repetition = request.repetition ?? (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, repetition);
    const counted = { ...request, repetition };
    this.#known.set(idempotencyKey, counted);
    return counted;
  }
}

function byKey([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other);
}

/** A directory of recordings: `runs/`, `answers/` to what else was asked, and `media/` by SHA-256. */
export class RecordingDirectory {
  constructor(readonly directory: string) {}

  /** The file of a recording, relative to the directory. */
  static fileOf(request: RecordedRequest): string {
    return path.join(
      'runs',
      `${request.promptVersionId
        .toLowerCase()
        .replace(/[^0-9a-f-]/gu, '_')
        .slice(0, 8)}-${recordingKey(request).slice(0, 16)}.json`,
    );
  }

  async write(recording: Recording): Promise<void> {
    await this.#put(
      RecordingDirectory.fileOf(recording.request),
      `${JSON.stringify(recording, undefined, 2)}\n`,
    );
  }

  /** The recording of a request; undefined where there is none. */
  async find(request: RecordedRequest): Promise<Recording | undefined> {
    return this.#read(RecordingDirectory.fileOf(request));
  }

  /** Every recording with its file. */
  async all(): Promise<{ readonly file: string; readonly recording: Recording }[]> {
    const found: { file: string; recording: Recording }[] = [];
    for (const name of (await this.#names('runs')).toSorted()) {
      const file = path.join('runs', name);
      const recording = name.endsWith('.json') ? await this.#read(file) : undefined;
      if (recording !== undefined) {
        found.push({ file, recording });
      }
    }
    return found;
  }

  /** @param request method and path, such as `GET /v1/resources` */
  async writeAnswer(request: string, answer: RecordedAnswer): Promise<void> {
    await this.#put(answerFile(request), `${JSON.stringify({ request, ...answer }, undefined, 2)}\n`);
  }

  async findAnswer(request: string): Promise<RecordedAnswer | undefined> {
    const value = await this.#json(answerFile(request));
    return isObject(value) && typeof value['httpStatus'] === 'number'
      ? { httpStatus: value['httpStatus'], body: value['body'] }
      : undefined;
  }

  /** Keeps media; gives their SHA-256. */
  async writeMedia(bytes: Uint8Array): Promise<string> {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await this.#put(path.join('media', sha256), bytes);
    return sha256;
  }

  async readMedia(sha256: string): Promise<Buffer> {
    return readFile(path.join(this.directory, 'media', sha256));
  }

  async #names(folder: string): Promise<string[]> {
    try {
      return await readdir(path.join(this.directory, folder));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') {
        return [];
      }
      throw error;
    }
  }

  async #read(file: string): Promise<Recording | undefined> {
    const value = await this.#json(file);
    if (value === undefined) {
      return undefined;
    }
    if (!isObject(value) || !isObject(value['request']) || !isObject(value['answer'])) {
      throw this.#damaged(file);
    }
    return value as unknown as Recording;
  }

  async #json(file: string): Promise<unknown> {
    let text: string;
    try {
      text = await readFile(path.join(this.directory, file), 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') {
        return undefined;
      }
      throw error;
    }
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw this.#damaged(file);
    }
  }

  #damaged(file: string): Error {
    return configError(
      `the recording ${path.join(this.directory, file)} is damaged`,
      'Remove it and record it again with --record.',
    );
  }

  /** Whole or not at all, so that an interrupted recording leaves no half file behind. */
  async #put(file: string, content: string | Uint8Array): Promise<void> {
    const target = path.join(this.directory, file);
    makeDirectory(path.dirname(target));
    await replaceFile(target, content);
  }
}

function answerFile(request: string): string {
  const readable = request.replace(/[^\w.-]+/gu, '-').slice(0, 60);
  return path.join(
    'answers',
    `${readable}-${createHash('sha256').update(request).digest('hex').slice(0, 12)}.json`,
  );
}
