import type { Transport } from '../../client/transport.ts';
import type { PromptConfig } from '../../wire/index.ts';
import type {
  LocalPromptTarget,
  PreviewInputs,
  PromptFinding,
  PromptPreview,
  PromptText,
} from './local-prompts.ts';
import type { RunningService, ServeOptions } from './serving.ts';

/** The local service as the command line needs it; main.ts connects it to `service/`. */
export interface LocalService {
  /** Starts the service within this process; `onNotice` is called with what its user should know, one line each. */
  start(options: { dataDir: string; onNotice: (line: string) => void }): Promise<EmbeddedService>;
  /** Runs `serve` until it is stopped. */
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
   * Gives the text of runs piece by piece while it is made, where their model can stream; returns how to stop. The final
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
