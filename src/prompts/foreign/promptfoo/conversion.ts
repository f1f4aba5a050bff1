import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorCode, errorMessage } from '../../../files/error-utils.ts';
import { FileFault, type FilePosition, faultAt } from '../../../files/file-fault.ts';
import {
  excessText,
  inspectNamedFile,
  isBelow,
  NamedFiles,
  namesOtherComputer,
} from '../../../files/named-file.ts';
import { PastBound } from '../../../files/past-bound.ts';
import { nodeOnlyName } from '../../../files/programs/node-only.ts';
import { encodingFault, isUtf16 } from '../../../files/read-text.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import { ConversionBudget, type ConversionLimits } from '../conversion-budget.ts';
import type { Converted, ConvertOptions, TestProgram } from '../converted.ts';
import { entriesBelow, globPattern, isGlob } from './glob.ts';
import type { PromptfooProvider } from './providers/provider.ts';

/** A position in one of the converted files. */
export interface Located extends FilePosition {
  /** The file's name in messages; default the configuration's. */
  readonly file?: string | undefined;
}

/** The keys that a part of a configuration can have. */
export interface KnownKeys {
  /** Supported keys, and those that change no verdict. */
  readonly known: readonly string[];
  /** Keys without an equivalent that could change a verdict. */
  readonly unsupported: readonly string[];
}

/** The text of a file. */
export interface SourceText {
  readonly text: string;
  /** The file's name in messages. */
  readonly file: string;
}

/** A variable, and the text that stands for it in the cases without it. */
export interface VariableOrText {
  readonly variable: string;
  readonly text: string;
}

/** The body of a request that Nunjucks makes for each case. */
export interface BodyTemplate {
  readonly at: Located;
  readonly template: string;
}

/** The names of the tests' variables. */
interface VariableNames {
  readonly all: readonly string[];
  /** Those with values that are not texts. */
  readonly json: readonly string[];
  /** Those in which answers are kept for later tests. */
  readonly stored: readonly string[];
}

/** The state of a conversion: the files' folder and the notes. */
export class Conversion {
  readonly notes: Converted['notes'][number][] = [];
  /** The models that judge. */
  readonly judges: PromptfooProvider[] = [];
  /** The configuration's providers with settings of their own, by the names with which a judge can refer to them. */
  readonly namedProviders = new Map<string, YamlValue>();
  /** The programs that make tests and have not been run yet. */
  readonly testPrograms: TestProgram[] = [];
  /** The entries of programs and addresses, as JSON without their names, by name. */
  readonly declared = new Map<string, string>();
  /** The providers of a models file for addresses, as JSON, by name. */
  readonly places: Map<string, string>;
  /** The names of the tests' variables, once the tests are read. */
  variables: VariableNames = { all: [], json: [], stored: [] };
  /** The variables that hold an id of one run, with the code that makes them. */
  readonly freshIds = new Map<string, Located>();
  /** The inputs that stand for a variable or, in the cases without it, for a text. */
  readonly fallbacks = new Map<string, VariableOrText>();
  /** The inputs that are the bodies of requests. */
  readonly bodies = new Map<string, BodyTemplate>();
  /** The number of omissions; repeated ones count each time. */
  leftOut = 0;
  /** The count of time and files. */
  readonly budget: ConversionBudget;
  readonly #options: ConvertOptions;
  readonly #file: string;
  readonly #counted = new NamedFiles();
  /** Contents by form and real path: many values may name one file. */
  readonly #contents = new Map<string, string>();

  /** @param file the configuration, as messages name it */
  constructor(options: ConvertOptions, file: string, limits?: ConversionLimits) {
    this.#options = options;
    this.#file = file;
    const places = Object.entries(options.takenProviders ?? {});
    this.places = new Map(places.map(([name, provider]) => [name, JSON.stringify(provider)]));
    this.budget = new ConversionBudget(limits);
  }

  /** Notes what is left out or differs. */
  note(at: Located, message: string): void {
    this.leftOut += 1;
    this.#note(at, message, {});
  }

  /** Notes a program or an address unless it may be run; returns true if it is left out. */
  noteProgram(at: Located, what: string): boolean {
    if (!this.isForTest || this.#options.allowCommands === true) return false;
    this.leftOut += 1;
    this.#note(at, `${what}, which runs only with --allow-commands`, { needsCommands: true });
    return true;
  }

  /** Notes a transform that its engine can't run. */
  noteTransform(code: string | undefined, at: Located): void {
    const used = code === undefined ? undefined : nodeOnlyName(code);
    if (used !== undefined) this.note(at, `a transform uses \`${used}\`, which its engine does not have`);
  }

  /** Returns what a program printed; undefined, and remembered, if it has not been run yet. */
  printedBy(program: TestProgram): string | undefined {
    const printed = this.#options.programOutputs?.[program.name];
    if (printed === undefined) this.testPrograms.push(program);
    return printed;
  }

  /** True to run the tests rather than write them to files. */
  get isForTest(): boolean {
    return this.#options.isForTest === true;
  }

  /** True to run the tests with the programs and addresses. */
  get runsPrograms(): boolean {
    return this.isForTest && this.#options.allowCommands === true;
  }

  /** The absolute folder of the configuration. */
  get directory(): string {
    return this.#options.directory;
  }

  /** The environment variables that the configuration names. */
  get env(): Readonly<Record<string, string>> {
    return this.#options.env ?? {};
  }

  /** Names of models that are taken already. */
  get taken(): readonly string[] {
    return this.#options.taken ?? [];
  }

  /**
   * Returns the files that match a pattern such as `tests/*.yaml`, sorted, relative to the configuration.
   *
   * @throws {FileFault} at the position of the pattern, if its folder can't be read or lies outside
   */
  matching(pattern: string, at: Located): string[] {
    this.budget.search();
    const relative = withoutScheme(pattern);
    const fixed = relative.split('/');
    const base = fixed.slice(0, Math.max(0, fixed.findIndex(isGlob))).join('/');
    // macOS may list `é` as two characters, and it is typed as one.
    const matches = globPattern(relative.normalize('NFC'));
    const root = path.resolve(this.#options.directory, base);
    if (namesOtherComputer(relative) || !existsSync(root)) return [];
    if (this.#options.allowOutside !== true && !isBelow(this.#options.directory, root)) {
      throw faultAt(at, `${pattern} ${FAULTS.outside()}`);
    }
    return entriesBelow(root, pattern, at)
      .filter(entry => !entry.isDirectory())
      .map(entry => path.join(entry.parentPath, entry.name))
      .map(file => path.relative(this.#options.directory, file).split(path.sep).join('/'))
      .filter(file => matches.test(path.posix.normalize(file).normalize('NFC')))
      .toSorted();
  }

  /** Returns the files that a path or a pattern names, relative to the file that has it. @throws {FileFault} like `matching` */
  filesFrom(at: Located, name: string): string[] {
    const folder = path.relative(path.dirname(this.#file), path.dirname(at.file ?? this.#file));
    const own = path.join(folder, withoutScheme(name)).split(path.sep).join('/');
    if (own.split('/').some(isGlob)) return this.matching(own, at);
    return this.has(own) ? [own] : [];
  }

  /** Notes a difference that changes no test. */
  tell(at: Located, message: string): void {
    this.#note(at, message, { isHarmless: true });
  }

  /** Notes what changes no test, but matters to whoever runs them. */
  warn(at: Located, message: string): void {
    this.#note(at, message, { isHarmless: true, isWarning: true });
  }

  /** Returns the line of a position in the configuration; undefined if it is in another file. */
  ownLine({ file = this.#file, line }: Located): number | undefined {
    return file === this.#file ? line : undefined;
  }

  #note(
    { file = this.#file, line }: Located,
    message: string,
    kind: { isHarmless?: true; isWarning?: true; needsCommands?: true },
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
      const isUnsupported = key === '$ref' || keys.unsupported.includes(key);
      if (isUnsupported) this.note(entry, `\`${key}\`${what} has no equivalent`);
      else this.tell(entry, `\`${key}\`${what} is a key that promptfoo ignores too`);
    }
  }

  /** Reads a YAML file that another file names. */
  yaml(name: string, at: Located): YamlValue {
    const { text, file } = this.read(name, at);
    return parseYaml(text, 1, file);
  }

  /** Returns a value, or the content of the YAML file that it names. */
  valueOrFile(node: YamlValue): YamlValue {
    const { scalar } = node;
    return scalar === undefined ? node : this.yaml(scalar, node);
  }

  /** Reads a file that another names, by `file://` or a path. @throws {FileFault} at the position of the name */
  read(name: string, at: Located): SourceText {
    const text = this.#content('utf8', name, at);
    return { text, file: path.join(path.dirname(this.#file), withoutScheme(name)) };
  }

  /** Reads a file like `read`, and returns its bytes in base64. @throws {FileFault} */
  base64(name: string, at: Located): string {
    return this.#content('base64', name, at);
  }

  #content(form: 'utf8' | 'base64', name: string, at: Located): string {
    const { directory, allowOutside = false } = this.#options;
    const refuse = (what: string): FileFault => faultAt(at, `${name} ${what}`);
    const relative = withoutScheme(name);
    if (namesOtherComputer(relative)) throw refuse('is on another computer, or a device');
    try {
      const folder = allowOutside ? undefined : directory;
      const file = path.resolve(directory, relative);
      const { real, fault } = inspectNamedFile(file, folder, MAX_CONVERTED_FILE_BYTES, this.#counted);
      if (fault) throw refuse(FAULTS[fault]());
      const key = `${form}:${real}`;
      const known = this.#contents.get(key);
      if (known !== undefined) return known;
      const bytes = readFileSync(real);
      this.budget.readFile(bytes.length);
      // promptfoo takes other bytes that are not UTF-8; of UTF-16 no line or column is left.
      if (form === 'utf8' && isUtf16(bytes)) throw refuse(`is ${encodingFault(bytes)}`);
      const content = form === 'utf8' ? fileText(bytes) : bytes.toString(form);
      this.#contents.set(key, content);
      return content;
    } catch (error) {
      if (error instanceof FileFault || error instanceof PastBound) throw error;
      throw refuse(errorCode(error) === 'ENOENT' ? "doesn't exist" : `can't be read: ${errorMessage(error)}`);
    }
  }

  /** Returns the name of an input for a variable or, in the cases without it, for a text. */
  inputOr(variable: string, text: string): string {
    const [known] = [...this.fallbacks].find(
      ([, fallback]) => fallback.variable === variable && fallback.text === text,
    ) ?? [`${variable}_or_default_${this.fallbacks.size + 1}`];
    this.fallbacks.set(known, { variable, text });
    return known;
  }

  /** Returns the name of an input for the body of a request that Nunjucks makes for each case. */
  inputForBody(body: BodyTemplate): string {
    const [known] = [...this.bodies].find(([, { template }]) => template === body.template) ?? [
      `body_of_request_${this.bodies.size + 1}`,
    ];
    this.bodies.set(known, body);
    return known;
  }

  /** Returns true if providers support a setting. */
  isSetting(name: string): boolean {
    return this.#options.settings.includes(name);
  }

  /** Returns true if there is such a file. */
  has(name: string): boolean {
    return (
      !namesOtherComputer(name) &&
      statSync(path.resolve(this.#options.directory, name), { throwIfNoEntry: false })?.isFile() === true
    );
  }
}

function fileText(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/u, '')
    .replaceAll('\r\n', '\n');
}

function withoutScheme(name: string): string {
  return name.replace(/^file:\/\//u, '');
}

/** Returns the values of a map by key, including those merged by `<<`. */
export function valuesByKey(node: YamlValue, name: string, depth = 0): Map<string, YamlValue> {
  const values = node.valuesByKey(name);
  const merged = values.get('<<');
  if (!merged || depth > MAX_MERGES) return values;
  values.delete('<<');
  const others = (merged.isList ? merged.items(name) : [merged]).map(map =>
    valuesByKey(map, name, depth + 1),
  );
  return new Map([...others.toReversed().flatMap(map => [...map]), ...values]);
}

/** Maximum depth of merged maps. */
const MAX_MERGES = 10;

const MAX_CONVERTED_FILE_BYTES = 8 * 1024 * 1024;
const FAULTS = {
  outside: () => 'lies outside the folder: --allow-outside allows it',
  irregular: () => 'is not a file',
  large: () => `is larger than ${MAX_CONVERTED_FILE_BYTES / 1024 / 1024} MiB`,
  'file count': () => excessText('file count', 'a configuration'),
  'total size': () => excessText('total size', 'a configuration'),
};
