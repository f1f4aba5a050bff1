import type { YamlValue } from '../../../files/formats/yaml.ts';
import { findNodeOnlyName } from '../../../processes/node-only.ts';
import { ConversionBudget, type ConversionLimits } from '../conversion-budget.ts';
import type { ConvertOptions } from '../convert-options.ts';
import type { ConversionNote, TestProgram } from '../converted-prompt.ts';
import { SourceFiles, type SourcePlace } from './files/source-files.ts';
import type { PromptfooProvider } from './providers/promptfoo-provider.ts';

/** The keys that a part of a configuration can have. */
export interface KnownKeys {
  /** Supported keys, and those that change no verdict. */
  readonly supported: readonly string[];
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
  readonly place: SourcePlace;
  readonly template: string;
}

/** The names of the tests' variables. */
interface VariableNames {
  readonly all: readonly string[];
  /** The variables with values that are not texts. */
  readonly json: readonly string[];
  /** The variables that keep answers for later tests. */
  readonly stored: readonly string[];
}

/**
 * The shared state of one conversion: its options, the files that it reads, and the notes that it
 * collects.
 */
export class ConversionContext {
  readonly notes: ConversionNote[] = [];
  /** The models that judge. */
  readonly judges: PromptfooProvider[] = [];
  /**
   * The configuration's providers with their own settings, by the names with which a judge can
   * refer to them.
   */
  readonly namedProviders = new Map<string, YamlValue>();
  /** The programs that make tests and have not been run yet. */
  readonly testPrograms: TestProgram[] = [];
  /**
   * The models that are programs and addresses: their entries, as JSON without the names, by name.
   */
  readonly entriesByModel = new Map<string, string>();
  /** The providers with their own addresses, as JSON, by their names in a models file. */
  readonly addressProviders: Map<string, string>;
  /** The names of the tests' variables; empty until the tests are read. */
  variableNames: VariableNames = { all: [], json: [], stored: [] };
  /**
   * The variables with an id that is new each time the tests are run, with the place of the code
   * that makes it.
   */
  readonly freshIdVariables = new Map<string, SourcePlace>();
  /** The inputs that stand for a variable or, in the cases without it, for a text. */
  readonly inputsWithDefault = new Map<string, VariableOrText>();
  /** The inputs that are the bodies of requests. */
  readonly requestBodies = new Map<string, BodyTemplate>();
  /** The number of reported omissions; repeated ones count each time. */
  omissionCount = 0;
  /** The files that the configuration names. */
  readonly files: SourceFiles;
  /** The time and the files that the conversion may use. */
  readonly budget: ConversionBudget;
  readonly #options: ConvertOptions;
  readonly #file: string;

  /** @param file the configuration, as messages name it */
  constructor(options: ConvertOptions, file: string, limits?: ConversionLimits) {
    this.#options = options;
    this.#file = file;
    const takenProviders = Object.entries(options.takenProviders ?? {});
    this.addressProviders = new Map(
      takenProviders.map(([name, provider]) => [name, JSON.stringify(provider)]),
    );
    this.budget = new ConversionBudget(limits);
    this.files = new SourceFiles(options, file, this.budget);
  }

  /** Reports a part that is left out, or that gives another verdict. */
  reportOmission(place: SourcePlace, message: string): void {
    this.omissionCount += 1;
    this.#addNote(place, message, {});
  }

  /**
   * Reports a program or an address that may not be run, and returns true; false if it may.
   *
   * @param subject the beginning of the message, such as `the prompt is a program`
   */
  omitUnlessAllowed(place: SourcePlace, subject: string): boolean {
    if (!this.isForTest || this.#options.allowCommands === true) return false;
    this.omissionCount += 1;
    this.#addNote(place, `${subject}, which runs only with --allow-commands`, {
      needsCommands: true,
    });
    return true;
  }

  /** Reports code that the engine for JavaScript can't run. */
  reportNodeOnlyCode(code: string | undefined, place: SourcePlace): void {
    const name = code === undefined ? undefined : findNodeOnlyName(code);
    if (name !== undefined) {
      this.reportOmission(place, `a transform uses \`${name}\`, which its engine does not have`);
    }
  }

  /**
   * Reports the keys that are not carried out. One that promptfoo doesn't know either changes
   * nothing.
   *
   * @param owner the part that has the keys, in messages
   */
  reportKeys(
    entries: ReadonlyMap<string, YamlValue>,
    keys: KnownKeys,
    { owner }: { readonly owner?: string } = {},
  ): void {
    const ofOwner = owner === undefined ? '' : ` of ${owner}`;
    for (const [key, entry] of entries) {
      if (keys.supported.includes(key)) continue;
      const isUnsupported = key === '$ref' || keys.unsupported.includes(key);
      if (isUnsupported) {
        this.reportOmission(entry, `\`${key}\`${ofOwner} has no equivalent`);
      } else {
        this.reportHarmless(entry, `\`${key}\`${ofOwner} is a key that promptfoo ignores too`);
      }
    }
  }

  /** Reports a difference that changes no test. */
  reportHarmless(place: SourcePlace, message: string): void {
    this.#addNote(place, message, { isHarmless: true });
  }

  /** Reports a difference that changes no test but that the user should know. */
  reportWarning(place: SourcePlace, message: string): void {
    this.#addNote(place, message, { isHarmless: true, isWarning: true });
  }

  /**
   * Returns the output of a program. If it has not been run yet, registers it and returns
   * undefined: the caller of the conversion then runs it and converts once more.
   */
  requestOutput(program: TestProgram): string | undefined {
    const output = this.#options.programOutputs?.[program.name];
    if (output === undefined) this.testPrograms.push(program);
    return output;
  }

  /**
   * Adds an input for a variable or, in the cases without it, for a text, and returns the input's
   * name.
   */
  addInputWithDefault(variable: string, text: string): string {
    const inputs = this.inputsWithDefault;
    const existingInput = [...inputs].find(
      ([, input]) => input.variable === variable && input.text === text,
    );
    const name = existingInput?.[0] ?? `${variable}_or_default_${inputs.size + 1}`;
    inputs.set(name, { variable, text });
    return name;
  }

  /**
   * Adds an input for the body of a request that Nunjucks makes for each case, and returns the
   * input's name.
   */
  addInputForBody(body: BodyTemplate): string {
    const bodies = this.requestBodies;
    const existingBody = [...bodies].find(([, { template }]) => template === body.template);
    const name = existingBody?.[0] ?? `body_of_request_${bodies.size + 1}`;
    bodies.set(name, body);
    return name;
  }

  /** Returns the line of a position in the configuration; undefined if it is in another file. */
  findConfigurationLine({ file = this.#file, line }: SourcePlace): number | undefined {
    return file === this.#file ? line : undefined;
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

  /** Names that no model of this configuration may have. */
  get takenModelNames(): readonly string[] {
    return this.#options.takenModelNames ?? [];
  }

  /** Returns true if providers support a setting. */
  isSetting(name: string): boolean {
    return this.#options.settingNames.includes(name);
  }

  #addNote(
    { file = this.#file, line }: SourcePlace,
    message: string,
    flags: Pick<ConversionNote, 'isHarmless' | 'isWarning' | 'needsCommands'>,
  ): void {
    const isRepeated = this.notes.some(
      note => note.file === file && note.line === line && note.message === message,
    );
    if (!isRepeated) this.notes.push({ file, line, message, ...flags });
  }
}
