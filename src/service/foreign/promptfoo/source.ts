import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf, messageOf } from '../../../files/error-utils.ts';
import type { JsonValue } from '../../files/json.ts';
import {
  FileFault,
  type Place,
  parseYaml,
  type YamlEntry,
  type YamlReader,
  type YamlValue,
} from '../../files/yaml-file.ts';
import { InvalidPromptFile } from '../../prompts/definition.ts';
import type { Converted, ConvertOptions } from '../converted.ts';

/** A place in one of the files that are converted. */
export interface Located extends Place {
  readonly source: Source;
}

/** What all that is converted shares: the files' folder, and what has no equivalent. */
export class Conversion {
  readonly notes: Converted['notes'][number][] = [];
  readonly #options: ConvertOptions;
  readonly #folder: string;

  /** @param file the configuration, as messages name it */
  constructor(options: ConvertOptions, file: string) {
    this.#options = options;
    this.#folder = path.dirname(file);
  }

  note({ source, line }: Located, message: string): void {
    const { file } = source;
    const isKnown = this.notes.some(
      note => note.file === file && note.line === line && note.message === message,
    );
    if (!isKnown) this.notes.push({ file, line, message });
  }

  /** Names those that are not among `known`; `what` continues "… of". */
  noteUnknown(entries: ReadonlyMap<string, Node>, known: readonly string[], what: string): void {
    for (const [key, entry] of entries) {
      if (!known.includes(key)) this.note(entry, `\`${key}\`${what} has no equivalent`);
    }
  }

  /** The text of a file that another names, by `file://` or a path. @throws {InvalidPromptFile} where it names it */
  read(name: string, at: Located): Source {
    const { directory, allowOutside = false } = this.#options;
    const refuse = (what: string): InvalidPromptFile =>
      new InvalidPromptFile(at.source.file, at.line, `${name} ${what}`);
    const relative = name.replace(/^file:\/\//u, '');
    try {
      const real = realpathSync(path.resolve(directory, relative));
      const stats = statSync(real);
      if (!allowOutside && !real.startsWith(path.join(realpathSync(directory), path.sep))) {
        throw refuse('lies outside the folder: --allow-outside takes it all the same');
      }
      if (!stats.isFile()) throw refuse('is not a file');
      if (stats.size > MOST_BYTES) throw refuse(`is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
      return new Source(
        readFileSync(real, 'utf8').replace(/^\uFEFF/u, ''),
        path.join(this.#folder, relative),
      );
    } catch (error) {
      if (error instanceof InvalidPromptFile) throw error;
      throw refuse(codeOf(error) === 'ENOENT' ? 'is not there' : `can’t be read: ${messageOf(error)}`);
    }
  }

  /** Whether a file of this name is there. */
  has(name: string): boolean {
    return (
      statSync(path.resolve(this.#options.directory, name), { throwIfNoEntry: false })?.isFile() === true
    );
  }
}

const MOST_BYTES = 8 * 1024 * 1024;

/** One file, with the places of what it says. */
export class Source {
  constructor(
    readonly text: string,
    /** As messages name it. */
    readonly file: string,
  ) {}

  at({ line, column }: Place = { line: 1, column: 1 }): Located {
    return { source: this, line, column };
  }

  fault({ line }: Place, what: string): InvalidPromptFile {
    return new InvalidPromptFile(this.file, line, what);
  }

  /** The whole as YAML, which JSON is too. @throws {InvalidPromptFile} */
  yaml(text = this.text, firstLine = 1): Node {
    return this.attempt(() => {
      const { root, read } = parseYaml(text, firstLine);
      return new Node(root, read, this);
    });
  }

  attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw error instanceof FileFault ? this.fault(error, error.what) : error;
    }
  }
}

/** A value of a file. Its methods throw InvalidPromptFile for a value of another kind. */
export class Node implements Located {
  readonly line: number;
  readonly column: number;
  readonly #value: YamlValue;
  readonly #read: YamlReader;

  constructor(
    value: YamlValue,
    read: YamlReader,
    readonly source: Source,
  ) {
    this.line = value.line;
    this.column = value.column;
    this.#value = value;
    this.#read = read;
  }

  entries(name: string): Map<string, Node> {
    const entries = this.source.attempt(() => this.#read.entries(this.#value, name));
    return new Map(entries.map(entry => [entry.key, this.#child(entry)]));
  }

  items(name: string): Node[] {
    const items = this.source.attempt(() => this.#read.items(this.#value, name));
    return items.map(item => new Node(item, this.#read, this.source));
  }

  text(name: string): string {
    return this.source.attempt(() => this.#read.text(this.#value, name));
  }

  get json(): JsonValue {
    return this.source.attempt(() => this.#read.json(this.#value));
  }

  /** A scalar as it is written; undefined for a list or a map, and for nothing. */
  get scalar(): string | undefined {
    const { json } = this;
    return json === null || typeof json === 'object' ? undefined : this.text('');
  }

  /** An entry stands where its key does. */
  #child({ value, line, column }: YamlEntry): Node {
    return new Node({ ...value, line, column }, this.#read, this.source);
  }
}
