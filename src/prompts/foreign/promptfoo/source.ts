import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf, messageOf } from '../../../files/error-utils.ts';
import { FileFault, faultAt, type Place } from '../../../files/file-fault.ts';
import {
  inspectNamedFile,
  MOST_NAMED_BYTES,
  MOST_NAMED_FILES,
  NamedFiles,
  namesOtherComputer,
} from '../../../files/named-file.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import type { Converted, ConvertOptions } from '../converted.ts';
import type { Provider } from './provider.ts';

/** A place in one of the files that are converted. */
export interface Located extends Place {
  /** As messages name it; default the configuration. */
  readonly file?: string | undefined;
}

/** The keys that a part of a configuration can have. */
export interface KnownKeys {
  /** Those that are carried out, or change no verdict. */
  readonly known: readonly string[];
  /** Those that could change a verdict and have no equivalent. */
  readonly unsupported: readonly string[];
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
  /** The models that judge. */
  readonly judges: Provider[] = [];
  /** How often something was left out: places that are named once count each time. */
  leftOut = 0;
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
    this.leftOut += 1;
    this.#note(at, message, {});
  }

  /** Names a program or an address, which is run only if that is allowed; true if it is left out. */
  noteProgram(at: Located, what: string): boolean {
    if (!this.isForTest || this.#options.allowCommands === true) return false;
    this.leftOut += 1;
    this.#note(at, `${what}, which runs only with --allow-commands`, { needsCommands: true });
    return true;
  }

  /** True to run the tests as they are. */
  get isForTest(): boolean {
    return this.#options.isForTest === true;
  }

  /** That of the configuration, absolute. */
  get directory(): string {
    return this.#options.directory;
  }

  /** Names of models that stand for something else already. */
  get taken(): readonly string[] {
    return this.#options.taken ?? [];
  }

  /** The files that a pattern such as `tests/*.yaml` names, sorted, relative to the configuration. */
  matching(pattern: string): string[] {
    const relative = pattern.replace(/^file:\/\//u, '');
    const fixed = relative.split('/');
    const base = fixed.slice(0, Math.max(0, fixed.findIndex(isPattern))).join('/');
    const matches = globPattern(relative);
    const root = path.resolve(this.#options.directory, base);
    if (namesOtherComputer(relative) || !existsSync(root)) return [];
    return readdirSync(root, { recursive: relative.includes('**'), withFileTypes: true })
      .filter(entry => !entry.isDirectory())
      .map(entry => path.join(entry.parentPath, entry.name))
      .map(file => path.relative(this.#options.directory, file).split(path.sep).join('/'))
      .filter(file => matches.test(path.posix.normalize(file)))
      .toSorted();
  }

  /** Tells what changes nothing that is tested. */
  tell(at: Located, message: string): void {
    this.#note(at, message, { isHarmless: true });
  }

  /** The line of a place in the configuration itself; undefined for one in another file. */
  ownLine({ file = this.#file, line }: Located): number | undefined {
    return file === this.#file ? line : undefined;
  }

  #note(
    { file = this.#file, line }: Located,
    message: string,
    kind: { isHarmless?: true; needsCommands?: true },
  ): void {
    const isKnown = this.notes.some(
      note => note.file === file && note.line === line && note.message === message,
    );
    if (!isKnown) this.notes.push({ file, line, message, ...kind });
  }

  /**
   * Names the keys that are not carried out; `what` continues "… of". One that promptfoo doesn't have either changes
   * nothing there.
   */
  noteKeys(entries: ReadonlyMap<string, YamlValue>, keys: KnownKeys, what: string): void {
    for (const [key, entry] of entries) {
      if (keys.known.includes(key)) continue;
      if (keys.unsupported.includes(key)) this.note(entry, `\`${key}\`${what} has no equivalent`);
      else this.tell(entry, `\`${key}\`${what} is a key that promptfoo ignores too`);
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
      const { real, fault } = inspectNamedFile(file, folder, MOST_BYTES, this.#counted);
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

/** The values of a map by their keys, with those that `<<` merges into it. */
export function valuesOf(node: YamlValue, name: string, depth = 0): Map<string, YamlValue> {
  const values = node.valuesByKey(name);
  const merged = values.get('<<');
  if (!merged || depth > MOST_MERGES) return values;
  values.delete('<<');
  const others = (merged.isList ? merged.items(name) : [merged]).map(one => valuesOf(one, name, depth + 1));
  return new Map([...others.toReversed().flatMap(one => [...one]), ...values]);
}

/** Of maps that are merged into each other. */
const MOST_MERGES = 10;

function isPattern(part: string): boolean {
  return /[*?[{]/u.test(part);
}

/** A pattern of files, in which `*` and `?` stand for what is within a name, `**` for folders, `{a,b}` for one of them. */
function globPattern(pattern: string): RegExp {
  const source = path.posix
    .normalize(pattern)
    .replaceAll(/[.+^$()|\\]/gu, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*|\?|\{([^{}]*)\}/gu, (part, names: string | undefined) => {
      if (names !== undefined) return `(?:${names.replaceAll(',', '|').replaceAll('*', '[^/]*')})`;
      return GLOB_PARTS[part] ?? '';
    });
  // oxlint-disable-next-line require-unicode-regexp -- class brackets of a glob may hold what `u` refuses
  return new RegExp(`^${source}$`);
}

const GLOB_PARTS: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]+/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

const MOST_BYTES = 8 * 1024 * 1024;
const FAULTS = {
  outside: 'lies outside the folder: --allow-outside takes it all the same',
  irregular: 'is not a file',
  large: `is larger than ${MOST_BYTES / 1024 / 1024} MiB`,
  many: `is one file too many: a configuration may name ${MOST_NAMED_FILES.toLocaleString('en')} different ones`,
  much: `is one file too many: those that a configuration names may have ${MOST_NAMED_BYTES / 1024 / 1024} MiB in all`,
};
