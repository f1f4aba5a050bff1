import type { Transport } from '../../client/transport.ts';
import type { PromptConfig } from '../../wire/index.ts';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** The local service as the command line needs it; main.ts connects it to `service/`. */
export interface LocalService {
  /** Starts the service within this process; `onNotice` is told of what its user should know, one line each. */
  start(options: { dataDir: string; onNotice: (line: string) => void }): Promise<EmbeddedService>;
  /** Runs `serve` until it is told to stop. */
  serve(options: ServeOptions): Promise<RunningService>;
  /** Opens the local store for `keys` and `prompts`. */
  open(options: { dataDir: string; database?: string | undefined }): Promise<LocalStore>;
  /** The texts of a prompt file to start from and of its test file; `name` is what both are called. */
  newPrompt(name: string, options: { image?: boolean }): Promise<{ prompt: string; test: string }>;
  /**
   * Makes a prompt file from the text of a `.prompt.yml` of GitHub Models; `leftOut` names what has no place in it.
   *
   * @throws {InvalidPromptFile} naming `file` where it is not one
   */
  convertPrompt(source: string, file: string): Promise<{ prompt: string; leftOut: readonly string[] }>;
  /**
   * Asks the endpoints that models.yaml and the environment name, and an Ollama on this machine, for their models, and adds
   * those that are new to models.yaml.
   *
   * @throws {InvalidModelsFile} for a models.yaml that can't be used
   */
  discoverModels(options: { dataDir: string; signal: AbortSignal }): Promise<ModelsDiscovery>;
  /** What is wrong with models.yaml and, where `ask` is true, with the providers that it and the environment name. */
  reportModels(options: { dataDir: string; signal: AbortSignal; ask: boolean }): Promise<ModelsReport>;
}

export interface ModelsDiscovery {
  /** Where models.yaml lies. */
  readonly file: string;
  /** Empty where none is configured and Ollama does not run. */
  readonly endpoints: readonly DiscoveredEndpoint[];
}

export interface DiscoveredEndpoint {
  readonly provider: string;
  readonly baseUrl: string;
  /** Why it could not be asked. */
  readonly fault?: string;
  /** Models that are new in models.yaml. */
  readonly added: readonly string[];
  /** How many of its models the file had before. */
  readonly known: number;
  /** How many of its models can't answer prompts. */
  readonly others: number;
}

export interface ModelsReport {
  /** Where models.yaml lies, or would. */
  readonly file: string;
  readonly exists: boolean;
  /** Of the file, each as `file:line: what`, and of `OPENAI_BASE_URL`. */
  readonly faults: readonly string[];
  readonly providers: readonly {
    readonly name: string;
    readonly baseUrl: string;
    /** The variable that must hold its key, where there is none. */
    readonly missingKey?: string;
    /** Why it does not answer; only where it was asked. */
    readonly fault?: string;
    /** How many models it has; only where it was asked and answered. */
    readonly models?: number;
  }[];
}

export interface EmbeddedService {
  readonly baseUrl: string;
  /** A key of the user `local` that only this process knows and that dies with it. */
  readonly key: string;
  /** The only way to it. */
  readonly transport: Transport;
  /**
   * Gives the text of runs piece by piece while it is made, where their model can stream; gives back how to stop. The final
   * outputs hold exactly what the pieces make together, unless the run fails. `idempotencyKey` is that of the creation.
   */
  onText(
    listener: (piece: {
      readonly runId: string;
      readonly idempotencyKey: string | undefined;
      readonly text: string;
    }) => void,
  ): () => void;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly dataDir: string;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly syncWindowMs: number;
  readonly promptsDir?: string;
  /** Requests a second for each key; undefined is unlimited. */
  readonly rateLimit?: number;
  /** Runs of one user that may be queued; default 10,000. */
  readonly maxQueued?: number;
  /** A URL of PostgreSQL, for a store that several machines share. */
  readonly database?: string | undefined;
  /** Keeps the store that is there under another name, and begins a new one. */
  readonly newStore?: boolean;
  /** How long running runs are given when the service is told to stop, in milliseconds. */
  readonly graceMs: number;
  /** What media URLs begin with, and a name requests may come under, without a slash at its end. */
  readonly publicUrl?: string;
  /** What happens while it serves: prompts published, files refused, warnings. */
  readonly onNotice: (line: string) => void;
  /** Told of each request once its answer is out. */
  readonly onRequest?: (request: ServedRequest) => void;
  /** Told of each run that ended. */
  readonly onRunEnd?: (run: EndedRun) => void;
}

/** A request that was answered. */
export interface ServedRequest {
  /** Undefined where the key was missing or unknown. */
  readonly user: string | undefined;
  readonly method: string;
  /** Without its query, which may hold a signature. */
  readonly path: string;
  readonly httpStatus: number;
  readonly durationMs: number;
}

/** A run that ended, in this process. */
export interface EndedRun {
  readonly runId: string;
  /** Undefined where it could not be found out. */
  readonly user: string | undefined;
  readonly status: string;
  /** From its start, in milliseconds. */
  readonly durationMs: number;
}

export interface RunningService {
  readonly baseUrl: string;
  /** The key made on the first start, shown once; undefined on later starts. */
  readonly newKey: string | undefined;
  /** Stops gracefully; resolves when everything is on disk. */
  close(): Promise<void>;
}

export interface LocalKey {
  readonly id: string;
  readonly user: string;
  readonly plan: string;
  readonly credits: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601, or null while never used. */
  readonly lastUsedAt: string | null;
}

export interface PublishedPrompt {
  readonly slug: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly title: string;
  /** False if this very content was the latest version already. */
  readonly changed: boolean;
}

export interface LocalStore {
  createKey(options: {
    user?: string;
    plan?: 'pro' | 'none';
    credits?: number;
  }): Promise<LocalKey & { readonly key: string }>;
  listKeys(): Promise<LocalKey[]>;
  /** False if there is no such key. */
  revokeKey(id: string): Promise<boolean>;
  /** @throws {InvalidPromptFile} (an Error whose message names file and line) */
  publish(file: string): Promise<PublishedPrompt>;
  /**
   * A version of a prompt file, or of a published prompt (its slug, its version id or its own id), that can be run by its
   * id and is otherwise nowhere: in no list, no search, never the latest; with `model` in place of the one it names.
   *
   * @throws {InvalidPromptFile} for the file; UnknownPrompt, UnknownModel for what is not there
   */
  ensureUnlistedVersion(wanted: {
    readonly file?: string;
    readonly promptVersionId?: string;
    readonly slug?: string;
    readonly model?: string;
  }): Promise<{
    readonly promptVersionId: string;
    readonly promptId: string;
    readonly slug: string;
    readonly title: string;
    readonly model: string;
  }>;
  /** False if there is no such published prompt. */
  unpublish(slug: string): Promise<boolean>;
  /** Every fault and every note of a prompt file, in order. Rejects with what the file system says. */
  check(file: string): Promise<PromptFinding[]>;
  /**
   * What a model would be sent; fetches nothing. Undefined where there is no such version.
   *
   * @throws {InvalidPromptFile} (an Error whose message names file and line)
   * @throws {InvalidInputs} (an Error whose message names every missing input)
   * @throws {PastBound} (an Error whose message names the bound)
   */
  render(target: LocalPromptTarget, given: PreviewInputs): Promise<PromptPreview | undefined>;
  /** The inputs a prompt expects, in the form of a prompt's config; undefined where there is no such version. */
  config(target: LocalPromptTarget): Promise<PromptConfig | undefined>;
  /** What a version was published as; undefined where there is no such version. */
  text(target: LocalPromptTarget): Promise<PromptText | undefined>;
  close(): Promise<void>;
}

/** A prompt file, or a version in the local store. */
export type LocalPromptTarget = { readonly file: string } | { readonly promptVersionId: string };

/** A fault keeps a prompt file from being used; a note is only worth knowing. */
export interface PromptFinding {
  readonly severity: 'fault' | 'note';
  /** The prompt's file or that of a partial. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface PreviewInputs {
  /** Taken as they are, numbers as numbers; the value of a picture is its URL, of any kind. */
  readonly inputs?: { readonly [key: string]: JsonValue };
  /** Inputs given as text, which the prompt's schema gives their types, as in a run; they win over `inputs`. */
  readonly texts?: Readonly<Record<string, string>>;
  /** URLs of pictures in the prompt's order, for those that `inputs` does not hold. */
  readonly images?: readonly string[];
}

/** What a model would be sent, in the form of the dotprompt specification. */
export interface PromptPreview {
  readonly messages: readonly object[];
  readonly input?: object;
  readonly output?: object;
  readonly config: object;
  /** As the file has it; left out where it names none. */
  readonly model?: string;
  readonly ext: object;
}

export interface PromptText {
  /** The whole file. */
  readonly source: string;
  /** What stands below the front matter. */
  readonly template: string;
  /** The partials it uses, by name. */
  readonly partials: Readonly<Record<string, string>>;
}
