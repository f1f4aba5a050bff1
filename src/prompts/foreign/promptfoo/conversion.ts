import type { YamlValue } from '../../../files/formats/yaml.ts';
import { nodeOnlyName } from '../../../processes/node-only.ts';
import { ConversionBudget, type ConversionLimits } from '../conversion-budget.ts';
import type { Converted, ConvertOptions, TestProgram } from '../converted.ts';
import type { PromptfooProvider } from './providers/provider.ts';
import { type Located, SourceFiles } from './source-files.ts';

/** The keys that a part of a configuration can have. */
export interface KnownKeys {
  /** Supported keys, and those that change no verdict. */
  readonly known: readonly string[];
  /** Keys without an equivalent that could change a verdict. */
  readonly unsupported: readonly string[];
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
  /** The variables with values that are not texts. */
  readonly json: readonly string[];
  /** The variables in which answers are kept for later tests. */
  readonly stored: readonly string[];
}

/** The state of a conversion: the files and the notes. */
export class Conversion {
  readonly notes: Converted['notes'][number][] = [];
  /** The models that judge. */
  readonly judges: PromptfooProvider[] = [];
  /** The configuration's providers with their own settings, by the names with which a judge can refer to them. */
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
  /** The files that the configuration names. */
  readonly files: SourceFiles;
  /** The count of time and files. */
  readonly budget: ConversionBudget;
  readonly #options: ConvertOptions;
  readonly #file: string;

  /** @param file the configuration, as messages name it */
  constructor(options: ConvertOptions, file: string, limits?: ConversionLimits) {
    this.#options = options;
    this.#file = file;
    const places = Object.entries(options.takenProviders ?? {});
    this.places = new Map(places.map(([name, provider]) => [name, JSON.stringify(provider)]));
    this.budget = new ConversionBudget(limits);
    this.files = new SourceFiles(options, file, this.budget);
  }

  /** Reports a part that is left out or differs. */
  note(at: Located, message: string): void {
    this.leftOut += 1;
    this.#note(at, message, {});
  }

  /** Reports a program or an address unless it may run; returns true if it is left out. */
  noteProgram(at: Located, what: string): boolean {
    if (!this.isForTest || this.#options.allowCommands === true) return false;
    this.leftOut += 1;
    this.#note(at, `${what}, which runs only with --allow-commands`, { needsCommands: true });
    return true;
  }

  /** Reports a transform that its engine can't run. */
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

  /** Reports a difference that changes no test. */
  tell(at: Located, message: string): void {
    this.#note(at, message, { isHarmless: true });
  }

  /** Reports a difference that changes no test but that the user should know. */
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
