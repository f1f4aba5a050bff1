import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { FileFault, type FilePosition, faultAt } from '../../../../files/formats/file-fault.ts';
import { parseYaml, type YamlValue } from '../../../../files/formats/yaml.ts';
import {
  explainExcess,
  inspectNamedFile,
  isBelow,
  isOnOtherComputer,
  NamedFileCount,
} from '../../../../files/named-file.ts';
import { describeEncodingFault, isUtf16 } from '../../../../files/read-text.ts';
import { getErrorCode, getErrorMessage } from '../../../../utils/error-utils.ts';
import { LimitExceededError } from '../../../../utils/limit-exceeded.ts';
import type { ConversionBudget } from '../../conversion-budget.ts';
import type { ConvertOptions } from '../../convert-options.ts';
import { compileGlob, isGlob, listEntriesBelow } from './glob.ts';

/** Maximum size of a file that a configuration names. */
const MAX_CONVERTED_FILE_BYTES = 8 * 1024 * 1024;

/** The ends of messages about files that may not be read, by the reason. */
const FILE_FAULT_MESSAGES = {
  outside: () => 'lies outside the folder: --allow-outside allows it',
  irregular: () => 'is not a file',
  large: () => `is larger than ${MAX_CONVERTED_FILE_BYTES / 1024 / 1024} MiB`,
  'file count': () => explainExcess('file count', 'a configuration'),
  'total size': () => explainExcess('total size', 'a configuration'),
};

/** A position in one of the converted files. */
export interface SourcePlace extends FilePosition {
  /** The file's name in messages; default the configuration's. */
  readonly file?: string | undefined;
}

/** The text of a file that a configuration names. */
export interface SourceText {
  readonly text: string;
  /** The file's name in messages. */
  readonly file: string;
}

/** The files that a configuration names. They lie below its folder, unless others are allowed. */
export class SourceFiles {
  readonly #options: Pick<ConvertOptions, 'directory' | 'allowOutside'>;
  readonly #file: string;
  readonly #budget: ConversionBudget;
  readonly #namedFiles = new NamedFileCount();
  /** Contents by encoding and real path: many values may name one file. */
  readonly #contents = new Map<string, string>();

  /** @param file the configuration, as messages name it */
  constructor(
    options: Pick<ConvertOptions, 'directory' | 'allowOutside'>,
    file: string,
    budget: ConversionBudget,
  ) {
    this.#options = options;
    this.#file = file;
    this.#budget = budget;
  }

  /**
   * Returns the files that match a pattern such as `tests/*.yaml`, sorted, relative to the
   * configuration.
   *
   * @throws {FileFault} at the position of the pattern, if its folder can't be read or lies outside
   */
  listMatching(pattern: string, place: SourcePlace): string[] {
    this.#budget.countSearch();
    const relativePattern = withoutFileScheme(pattern);
    const steps = relativePattern.split('/');
    const baseFolder = steps.slice(0, Math.max(0, steps.findIndex(isGlob))).join('/');

    // macOS may list `é` as two characters, and it is typed as one.
    const globPattern = compileGlob(relativePattern.normalize('NFC'));
    const root = path.resolve(this.#options.directory, baseFolder);
    if (isOnOtherComputer(relativePattern) || !existsSync(root)) return [];

    if (this.#options.allowOutside !== true && !isBelow(this.#options.directory, root)) {
      throw faultAt(place, `${pattern} ${FILE_FAULT_MESSAGES.outside()}`);
    }

    return listEntriesBelow(root, pattern, place)
      .filter(entry => !entry.isDirectory())
      .map(entry => path.join(entry.parentPath, entry.name))
      .map(file => path.relative(this.#options.directory, file).split(path.sep).join('/'))
      .filter(file => globPattern.test(path.posix.normalize(file).normalize('NFC')))
      .toSorted();
  }

  /**
   * Returns the files that a path or a pattern names, relative to the file that has it.
   *
   * @throws {FileFault} like `listMatching`
   */
  listFiles(place: SourcePlace, name: string): string[] {
    const folder = path.relative(path.dirname(this.#file), path.dirname(place.file ?? this.#file));
    const filePath = path.join(folder, withoutFileScheme(name)).split(path.sep).join('/');
    if (filePath.split('/').some(isGlob)) return this.listMatching(filePath, place);
    return this.hasFile(filePath) ? [filePath] : [];
  }

  /** Reads a YAML file that another file names. */
  readYaml(name: string, place: SourcePlace): YamlValue {
    const { text, file } = this.read(name, place);
    return parseYaml(text, 1, file);
  }

  /** Returns a value, or the content of the YAML file that it names. */
  readValueOrFile(node: YamlValue): YamlValue {
    const { scalar } = node;
    return scalar === undefined ? node : this.readYaml(scalar, node);
  }

  /**
   * Reads a file that another names, by `file://` or a path.
   *
   * @throws {FileFault} at the position of the name
   */
  read(name: string, place: SourcePlace): SourceText {
    const text = this.#readContent('utf8', name, place);
    return { text, file: path.join(path.dirname(this.#file), withoutFileScheme(name)) };
  }

  /** Reads a file like `read`, and returns its bytes in base64. @throws {FileFault} */
  readBase64(name: string, place: SourcePlace): string {
    return this.#readContent('base64', name, place);
  }

  /** Returns true if there is such a file. */
  hasFile(name: string): boolean {
    if (isOnOtherComputer(name)) return false;
    const file = path.resolve(this.#options.directory, name);
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  }

  #readContent(encoding: 'utf8' | 'base64', name: string, place: SourcePlace): string {
    const { directory, allowOutside = false } = this.#options;
    const createFault = (message: string): FileFault => faultAt(place, `${name} ${message}`);
    const relativeName = withoutFileScheme(name);
    if (isOnOtherComputer(relativeName)) throw createFault('is on another computer, or a device');

    try {
      const { realPath, fault } = inspectNamedFile(
        path.resolve(directory, relativeName),
        allowOutside ? undefined : directory,
        MAX_CONVERTED_FILE_BYTES,
        this.#namedFiles,
      );
      if (fault) throw createFault(FILE_FAULT_MESSAGES[fault]());

      const key = `${encoding}:${realPath}`;
      const cachedContent = this.#contents.get(key);
      if (cachedContent !== undefined) return cachedContent;

      const bytes = readFileSync(realPath);
      this.#budget.countFile(bytes.length);

      // promptfoo reads any bytes as UTF-8. In UTF-16 that would leave no lines to report.
      if (encoding === 'utf8' && isUtf16(bytes)) {
        throw createFault(`is ${describeEncodingFault(bytes)}`);
      }

      const content = encoding === 'utf8' ? decodeText(bytes) : bytes.toString(encoding);
      this.#contents.set(key, content);
      return content;
    } catch (error) {
      if (error instanceof FileFault || error instanceof LimitExceededError) throw error;
      if (getErrorCode(error) === 'ENOENT') throw createFault("doesn't exist");
      throw createFault(`can't be read: ${getErrorMessage(error)}`);
    }
  }
}

function decodeText(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/u, '')
    .replaceAll('\r\n', '\n');
}

/** Returns the path in a name such as `file://prompts/a.txt`. */
export function withoutFileScheme(name: string): string {
  return name.replace(/^file:\/\//u, '');
}
