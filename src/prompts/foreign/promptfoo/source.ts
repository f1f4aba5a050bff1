import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf, messageOf } from '../../../files/error-utils.ts';
import { FileFault, faultAt, type Place } from '../../../files/file-fault.ts';
import {
  lookAtNamedFile,
  MOST_NAMED_BYTES,
  MOST_NAMED_FILES,
  NamedFiles,
  namesOtherComputer,
} from '../../../files/named-file.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import type { Converted, ConvertOptions } from '../converted.ts';

/** A place in one of the files that are converted. */
export interface Located extends Place {
  /** As messages name it; default the configuration. */
  readonly file?: string | undefined;
}

/** What a file says. */
export interface SourceText {
  readonly text: string;
  /** As messages name it. */
  readonly file: string;
}

/** What all that is converted shares: the files' folder, and what has no equivalent. */
export class Conversion {
  readonly notes: Converted['notes'][number][] = [];
  readonly #options: ConvertOptions;
  readonly #file: string;
  readonly #counted = new NamedFiles();
  /** Texts by real path: many values may name one file. */
  readonly #texts = new Map<string, string>();

  /** @param file the configuration, as messages name it */
  constructor(options: ConvertOptions, file: string) {
    this.#options = options;
    this.#file = file;
  }

  /** Names what is left out, or is not the same. */
  note(at: Located, message: string): void {
    this.#note(at, message, {});
  }

  /** Tells what changes nothing that is tested. */
  tell(at: Located, message: string): void {
    this.#note(at, message, { isHarmless: true });
  }

  /** The line of a place in the configuration itself; undefined for one in another file. */
  ownLine({ file = this.#file, line }: Located): number | undefined {
    return file === this.#file ? line : undefined;
  }

  #note({ file = this.#file, line }: Located, message: string, kind: { isHarmless?: true }): void {
    const isKnown = this.notes.some(
      note => note.file === file && note.line === line && note.message === message,
    );
    if (!isKnown) this.notes.push({ file, line, message, ...kind });
  }

  /** Names those that are not among `known`; `what` continues "… of". */
  noteUnknown(entries: ReadonlyMap<string, YamlValue>, known: readonly string[], what: string): void {
    for (const [key, entry] of entries) {
      if (!known.includes(key)) this.note(entry, `\`${key}\`${what} has no equivalent`);
    }
  }

  /** The YAML in a file that another names. */
  yaml(name: string, at: Located): YamlValue {
    const { text, file } = this.read(name, at);
    return parseYaml(text, 1, file);
  }

  /** The text of a file that another names, by `file://` or a path. @throws {FileFault} where it names it */
  read(name: string, at: Located): SourceText {
    const { directory, allowOutside = false } = this.#options;
    const refuse = (what: string): FileFault => faultAt(at, `${name} ${what}`);
    const relative = name.replace(/^file:\/\//u, '');
    if (namesOtherComputer(relative)) throw refuse('is on another computer, or a device');
    try {
      const folder = allowOutside ? undefined : directory;
      const file = path.resolve(directory, relative);
      const { real, fault } = lookAtNamedFile(file, folder, MOST_BYTES, this.#counted);
      if (fault) throw refuse(FAULTS[fault]);
      const text = this.#texts.get(real) ?? readFileSync(real, 'utf8').replace(/^\uFEFF/u, '');
      this.#texts.set(real, text);
      return { text, file: path.join(path.dirname(this.#file), relative) };
    } catch (error) {
      if (error instanceof FileFault) throw error;
      throw refuse(codeOf(error) === 'ENOENT' ? 'is not there' : `can't be read: ${messageOf(error)}`);
    }
  }

  /** True for a setting that providers understand. */
  isSetting(name: string): boolean {
    return this.#options.settings.includes(name);
  }

  /** Whether a file of this name is there. */
  has(name: string): boolean {
    return (
      statSync(path.resolve(this.#options.directory, name), { throwIfNoEntry: false })?.isFile() === true
    );
  }
}

const MOST_BYTES = 8 * 1024 * 1024;
const FAULTS = {
  outside: 'lies outside the folder: --allow-outside takes it all the same',
  irregular: 'is not a file',
  large: `is larger than ${MOST_BYTES / 1024 / 1024} MiB`,
  many: `is one file too many: a configuration may name ${MOST_NAMED_FILES.toLocaleString('en')} different ones`,
  much: `is one file too many: those that a configuration names may have ${MOST_NAMED_BYTES / 1024 / 1024} MiB in all`,
};
