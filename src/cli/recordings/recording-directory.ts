import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readJson } from '../../files/formats/json.ts';
import { LinkFault, resolveContainedPath } from '../../files/writing/write-below.ts';
import { replaceFile, writeUnderFreeName } from '../../files/writing/write-file.ts';
import type { EngineFault } from '../../models/engine.ts';
import { MAX_JSON, type UncheckedObject } from '../../utils/bounded-json.ts';
import { getErrorCode, getErrorMessage, ignoreMissing } from '../../utils/error-utils.ts';
import { parseKeepingNumbers, stringifyAsWritten } from '../../utils/written-numbers.ts';
import { type CliError, configError } from '../core/errors.ts';
import { computeRecordingKey } from './recorded-request.ts';
import type { RecordedRequest } from './recorder.ts';
import { findAnswerFault, findRecordingFault } from './recording-fault.ts';

/** A service's answer, whose body is JSON. */
export interface RecordedAnswer {
  readonly httpStatus: number;
  readonly body: UncheckedObject;
}

/** An image or video output of a run. */
export interface RecordedMedia {
  readonly url: string;
  /** The file's name in `media/`: 64 hexadecimal digits. */
  readonly sha256: string;
  readonly contentType: string | null;
}

/** A creation and its end. */
export interface Recording {
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
  readonly media: readonly RecordedMedia[];
  /** URLs of media that were too large, or too many, to keep. */
  readonly notKept: readonly string[];
  /** The reason that the run failed before a model answered; omitted for any other end. */
  readonly fault?: EngineFault;
  /** The cost in US dollars; omitted if unknown. */
  readonly cost?: number;
}

/** The error for a recording that is larger than its limit, or has more media. */
export class RecordingTooBigError extends Error {
  override readonly name = 'RecordingTooBigError';
}

/** Maximum number of media of a run. */
export const MAX_MEDIA = 64;

/** Maximum total size of the media of a run, in bytes. */
export const MAX_RECORDED_MEDIA_BYTES = 256 * 1024 * 1024;

const MAX_RECORDED_MEDIA_MIB = MAX_RECORDED_MEDIA_BYTES / 1024 / 1024;

const MAX_RECORDING_BYTES = 64 * 1024 * 1024;

/** Limits on the JSON of a recording: enough for the largest answer together with its request. */
const RECORDING_LIMITS = { maxLevels: MAX_JSON.maxLevels + 10, maxValues: 2 * MAX_JSON.maxValues };

const TOO_LARGE_MESSAGE = `it is larger than ${MAX_RECORDING_BYTES / 1024 / 1024} MiB`;

/** The error for a file of a recording that can't be written, as on a full disk. */
export class UnwritableRecordingError extends Error {
  override readonly name = 'UnwritableRecordingError';
}

/** A directory of recordings: `runs/`, `answers/` to other requests, and `media/` by SHA-256. */
export class RecordingDirectory {
  static readonly folders = ['runs', 'answers', 'media'];

  constructor(readonly directory: string) {}

  /** Returns the file of a recording, relative to the directory. */
  static getFileName(request: RecordedRequest): string {
    const version = request.promptVersionId.toLowerCase().replace(/[^0-9a-f-]/gu, '_');
    return path.join(
      'runs',
      `${version.slice(0, 8)}-${computeRecordingKey(request).slice(0, 16)}.json`,
    );
  }

  /** Returns the file of the answer to a GET request. */
  static getAnswerFileName(requestPath: string): string {
    const request = `GET ${requestPath}`;
    const readablePart = request.replace(/[^\w.-]+/gu, '-').slice(0, 60);
    const digest = createHash('sha256').update(request).digest('hex').slice(0, 12);
    return path.join('answers', `${readablePart}-${digest}.json`);
  }

  /** Refuses a link in the path of a file to write. @throws {LinkFault} */
  checkLinks(file: string): void {
    resolveContainedPath({ folder: this.directory, name: file });
  }

  /**
   * Writes a recording that `read` accepts.
   *
   * @param file the result of `getFileName`; the content may differ from its request, because the key
   * is masked
   * @throws {RecordingTooBigError} if the recording is larger than its limit
   * @throws {Error} if `read` would refuse the recording
   * @throws {UnwritableRecordingError} for a fault of the file system
   * @throws {LinkFault} for a link in the path
   */
  async write(file: string, recording: Recording): Promise<void> {
    await this.#writeJson(file, recording, findRecordingFault);
  }

  /** Writes the answer to a GET request. Throws like `write`. */
  async writeAnswer(file: string, requestPath: string, answer: RecordedAnswer): Promise<void> {
    await this.#writeJson(file, { request: `GET ${requestPath}`, ...answer }, findAnswerFault);
  }

  /**
   * Reads the recording in a file; undefined if there is none.
   *
   * @throws {CliError} CONFIG_ERROR that names a recording that `write` can't have written
   */
  async read(file: string): Promise<Recording | undefined> {
    const recording = await this.#readJson(file, findRecordingFault);
    if (recording === undefined) return undefined;
    // null stands for an unknown fact.
    const knownFacts = Object.entries(recording).filter(([, value]) => value !== null);
    return { notKept: [], ...(Object.fromEntries(knownFacts) as Omit<Recording, 'notKept'>) };
  }

  /** Yields every recording with its file. Throws like `read`. */
  async *readAll(): AsyncGenerator<{ readonly file: string; readonly recording: Recording }> {
    for (const name of (await this.#listNames('runs')).toSorted()) {
      const file = path.join('runs', name);
      const recording = name.endsWith('.json') ? await this.read(file) : undefined;
      if (recording !== undefined) yield { file, recording };
    }
  }

  /** Reads the answer in a file. Throws like `read`. */
  async readAnswer(file: string): Promise<RecordedAnswer | undefined> {
    return (await this.#readJson(file, findAnswerFault)) as RecordedAnswer | undefined;
  }

  /** Checks every recorded answer to a GET request. Throws like `read`. */
  async checkAnswers(): Promise<void> {
    for (const name of await this.#listNames('answers')) {
      if (name.endsWith('.json')) await this.readAnswer(path.join('answers', name));
    }
  }

  /** Stores a medium under its SHA-256. @throws {RecordingTooBigError} beyond `maxBytes` bytes */
  async writeMedia(
    body: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<{ sha256: string; size: number }> {
    const directory = { folder: this.directory, name: 'media' };
    const hash = createHash('sha256');
    let size = 0;
    const writeBody = async (target: {
      appendFile(data: Uint8Array): Promise<void>;
    }): Promise<void> => {
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBytes) {
          throw new RecordingTooBigError(
            `it is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB`,
          );
        }
        hash.update(chunk);
        await target.appendFile(chunk);
      }
    };

    const sha256 = await writeUnderFreeName(directory, {
      chooseName: () => hash.digest('hex'),
      content: writeBody,
      ifTaken: 'replace',
    });
    return { sha256, size };
  }

  /**
   * Checks the number, sizes and digests of a recording's media.
   *
   * @param checkedDigests the digests of media that were checked; adds those of this recording
   * @throws {CliError} CONFIG_ERROR that names the recording
   */
  async checkMedia(
    file: string,
    media: readonly RecordedMedia[],
    checkedDigests: Set<string>,
  ): Promise<void> {
    if (media.length > MAX_MEDIA) {
      throw this.#createDamagedError(file, `it names more than ${MAX_MEDIA} media`);
    }

    let totalBytes = 0;
    for (const { sha256 } of media) {
      totalBytes += await this.#checkMediumSize(file, sha256);
      if (totalBytes > MAX_RECORDED_MEDIA_BYTES) {
        throw this.#createDamagedError(
          file,
          `its media are larger than ${MAX_RECORDED_MEDIA_MIB} MiB`,
        );
      }
    }

    for (const { sha256 } of media) {
      if (!checkedDigests.has(sha256)) await this.#checkMediumDigest(file, sha256);
      checkedDigests.add(sha256);
    }
  }

  async openMedia(sha256: string): Promise<{ length: number; body: AsyncIterable<Uint8Array> }> {
    const fullPath = path.join(this.directory, 'media', sha256);
    return { length: (await lstat(fullPath)).size, body: createReadStream(fullPath) };
  }

  /** Returns the size of a medium in bytes. Throws like `checkMedia`. */
  async #checkMediumSize(file: string, sha256: string): Promise<number> {
    const stats = await ignoreMissing(lstat(path.join(this.directory, 'media', sha256)));
    if (stats === undefined) throw this.#createDamagedError(file, `media/${sha256} does not exist`);
    if (!stats.isFile()) {
      throw this.#createDamagedError(file, `media/${sha256} is not a regular file`);
    }

    if (stats.size > MAX_RECORDED_MEDIA_BYTES) {
      throw this.#createDamagedError(
        file,
        `media/${sha256} is larger than ${MAX_RECORDED_MEDIA_MIB} MiB`,
      );
    }
    return stats.size;
  }

  async #checkMediumDigest(file: string, sha256: string): Promise<void> {
    const fullPath = path.join(this.directory, 'media', sha256);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(fullPath)) hash.update(chunk as Uint8Array);

    if (hash.digest('hex') !== sha256) {
      throw this.#createDamagedError(file, `media/${sha256} contains something else`);
    }
  }

  /** Lists the files of a folder; none if it does not exist. */
  async #listNames(folder: string): Promise<string[]> {
    return (await ignoreMissing(readdir(path.join(this.directory, folder)))) ?? [];
  }

  async #writeJson(
    file: string,
    content: object,
    findFault: (value: unknown) => string | undefined,
  ): Promise<void> {
    const fault = findFault(content);
    if (fault !== undefined) throw new Error(`the answer does not follow the interface: ${fault}`);

    const text = `${stringifyAsWritten(content, 2)}\n`;
    if (Buffer.byteLength(text) > MAX_RECORDING_BYTES) {
      throw new RecordingTooBigError(TOO_LARGE_MESSAGE);
    }

    await replaceFile({ folder: this.directory, name: file }, text).catch((error: unknown) => {
      if (error instanceof LinkFault || getErrorCode(error) === undefined) throw error;
      const fullPath = path.join(this.directory, file);
      throw new UnwritableRecordingError(
        `${fullPath} can't be written: ${getErrorMessage(error)}`,
        {
          cause: error,
        },
      );
    });
  }

  async #readJson(
    file: string,
    findFault: (value: unknown) => string | undefined,
  ): Promise<object | undefined> {
    const fullPath = path.join(this.directory, file);
    const stats = await ignoreMissing(lstat(fullPath));
    if (stats === undefined) return undefined;
    if (!stats.isFile()) throw this.#createDamagedError(file, 'it is not a regular file');
    if (stats.size > MAX_RECORDING_BYTES) throw this.#createDamagedError(file, TOO_LARGE_MESSAGE);

    const json = readJson(await readFile(fullPath, 'utf8'), RECORDING_LIMITS, parseKeepingNumbers);
    if ('fault' in json) throw this.#createDamagedError(file, `it ${json.fault}`);

    const fault = findFault(json.value);
    if (fault !== undefined) throw this.#createDamagedError(file, fault);
    return json.value as object;
  }

  #createDamagedError(file: string, fault: string): CliError {
    return configError(
      `the recording ${path.join(this.directory, file)} is damaged: ${fault}`,
      'Remove it and record it again with --record.',
    );
  }
}
