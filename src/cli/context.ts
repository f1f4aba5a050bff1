import type { PromptService } from '../client/client.ts';
import type { ModelsText } from '../models/catalogue/models-file.ts';
import type { EngineFault } from '../models/engine.ts';
import type { RunsHere } from '../service/embedded.ts';
import type { Costs } from '../service/runs/costs.ts';
import type { ProviderBatches } from '../service/runs/provider-batches.ts';
import type { LocalService } from './core/local-service.ts';
import type { Recorder } from './core/recorder.ts';
import type { Advise } from './core/types.ts';
import type { Checks } from './outputs/checks/checks.ts';
import type { Prompter } from './questions/types.ts';
import type { PromptCache } from './settings/caches/prompt-cache.ts';
import type { ResourceCache } from './settings/caches/resource-cache.ts';
import type { Journal } from './settings/journal/journal.ts';
import type { Settings } from './settings/settings.ts';
import type { TerminalContext } from './terminal/terminal-context.ts';

/** Where requests go, with whose key, and what is remembered for the two. */
export interface Connection {
  /** The profile in force; undefined when flags or environment gave base URL and key. */
  readonly profile: string | undefined;
  /** Ends in /v1; the port of the embedded service changes with every process. */
  readonly baseUrl: string;
  /** Names the service in the journal and the caches: the base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly embedded: boolean;
  /** What gave the key: `PROMPTRUN_API_KEY`, `profile work`, or that profile's keychain; undefined if none was needed. */
  readonly keySource: string | undefined;
  /** A command line that asks this very service. */
  readonly advise: Advise;
  readonly client: PromptService;
  readonly resources: ResourceCache;
  readonly prompts: PromptCache;
  /** Where runs are recorded, or answered from recordings. */
  readonly recorder?: Recorder;
  /**
   * Why a run of this command failed before a model answered; undefined for any other end, and always if another process
   * carried the run out.
   */
  faultOf(runId: string): EngineFault | undefined;
  /** The runs of the embedded service that this process carries out. */
  readonly runsHere?: RunsHere;
  /** What runs cost in tokens and money; only of this machine's own service. */
  readonly costs?: Costs;
  /** Loads what asks models in batches of their providers; only of this machine's own service. */
  readonly providerBatches?: () => Promise<ProviderBatches>;
}

/** Everything a command may use. */
export interface Context extends TerminalContext {
  /** Aborted by the first SIGINT or SIGTERM, with an `Interrupted` as reason, or by `--timeout`, with a `TimeIsUp`. */
  readonly signal: AbortSignal;
  /** How long the command may still take, in milliseconds; infinite without `--timeout`. */
  readonly timeLeftMs: () => number;
  /** Whether questions may be asked: a terminal on standard input and error, no `--no-input`, no `CI`. */
  readonly interactive: boolean;
  readonly settings: Settings;
  /** Resolves once base URL and key are known; starts the embedded service where that is the default. The same each time. */
  connection(): Promise<Connection>;
  /** This machine's own service, whatever is configured. The same each time. */
  localConnection(): Promise<Connection>;
  /** A connection to a service that is not the configured one, with a key that need not be stored. */
  connectTo(peer: { profile: string; baseUrl: string; apiKey: string }): Promise<Connection>;
  /** Loaded when the first question is asked. */
  prompter(): Promise<Prompter>;
  /** Whether recordings answer in place of every service. */
  readonly isReplay: boolean;
  /** A command line that asks the configured service. */
  readonly advise: Advise;
  /** What is done in processes of its own; the same each time. */
  checks(): Promise<Pick<Checks, 'perform'>>;
  readonly local: LocalService;
  /** Of this program. */
  readonly version: string;
  /** The local service's data directory. */
  readonly dataDir: string;
  /** A file with more models than models.yaml has, absolute; undefined if none is named. */
  readonly modelsFile: string | undefined;
  /** More models, of configurations that are tested; added before a service is opened. */
  readonly declaredModels: ModelsText[];
  /** What is kept of runs: the journal, and the journals of batches without a file of results. */
  readonly stateDir: string;
  /** The runs started on this machine; opened when it is first used. */
  readonly journal: Journal;
}
