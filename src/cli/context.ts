import type { PromptService } from '../client/client.ts';
import type { Pace } from '../client/request-options.ts';
import type { ModelsText } from '../models/catalogue/models-file.ts';
import type { EngineFault } from '../models/engine.ts';
import type { PromptTasks } from '../prompts/tasks/prompt-tasks.ts';
import type { InProcessRuns } from '../service/embedded.ts';
import type { Costs } from '../service/runs/costs.ts';
import type { ProviderBatches } from '../service/runs/provider-batches.ts';
import type { CheckRunner } from './checks/check-runner.ts';
import type { NodeChecks } from './checks/node-checks.ts';
import type { FormatCommand } from './core/failure.ts';
import type { LocalService } from './core/local-service.ts';
import type { Prompter } from './questions/question.ts';
import type { Recorder } from './recordings/recorder.ts';
import type { PromptCache } from './settings/caches/prompt-cache.ts';
import type { ResourceCache } from './settings/caches/resource-cache.ts';
import type { Journal } from './settings/journal/journal.ts';
import type { Settings } from './settings/settings.ts';
import type { TerminalContext } from './terminal/terminal-context.ts';

/** A service and a key, with the caches that belong to them. */
export interface Connection {
  /** The active profile; undefined if base URL and key come from flags or environment. */
  readonly profile: string | undefined;
  /** The base URL, ending in /v1; the port of the embedded service changes with every process. */
  readonly baseUrl: string;
  /**
   * The name of the service in the journal and the caches: the base URL, or `local` for the
   * embedded service.
   */
  readonly serviceName: string;
  readonly isEmbedded: boolean;
  /**
   * The source of the key: `PROMPTRUN_API_KEY`, `profile work`, or that profile's keychain;
   * undefined if none was needed.
   */
  readonly keySource: string | undefined;
  /** Returns a command line that asks this service. */
  readonly formatCommand: FormatCommand;
  readonly client: PromptService;
  /** The pace of the client's requests; only of the connections of jobs. */
  readonly pace?: Pace;
  readonly resources: ResourceCache;
  readonly prompts: PromptCache;
  /** The recorder, which records runs or answers from recordings. */
  readonly recorder?: Recorder;
  /**
   * Returns the reason that a run of this command failed before a model answered; undefined for any
   * other end, and always if another process carried out the run.
   */
  findFault(runId: string): EngineFault | undefined;
  /** The runs of the embedded service in this process. */
  readonly inProcessRuns?: InProcessRuns;
  /** The costs of runs in tokens and money; only of the embedded service. */
  readonly costs?: Costs;
  /** Loads the providers' batch APIs; only of the embedded service. */
  readonly providerBatches?: () => Promise<ProviderBatches>;
}

/** The dependencies of a command. */
export interface Context extends TerminalContext {
  /**
   * Aborted by the first SIGINT or SIGTERM, with an `InterruptedError` as reason, or by `--timeout`,
   * with a `TimeLimitError`.
   */
  readonly signal: AbortSignal;
  /** Returns the remaining time of the command, in milliseconds; infinite without `--timeout`. */
  readonly timeLeftMs: () => number;
  /**
   * True if the command may ask questions: a terminal on standard input and error, no `--no-input`,
   * no `CI`.
   */
  readonly isInteractive: boolean;
  readonly settings: Settings;
  /**
   * Resolves base URL and key; starts the embedded service if it is the default. Returns the same
   * connection each time.
   */
  connection(): Promise<Connection>;
  /**
   * Connects to the embedded service, whatever is configured. Returns the same connection each
   * time.
   *
   * @param onlyPart the part of the command that runs there, such as `the judge`, for the note of
   * the first call; all by default
   */
  localConnection(onlyPart?: string): Promise<Connection>;
  /** Connects to a service other than the configured one, with a key that need not be stored. */
  connectTo(peer: { profile: string; baseUrl: string; apiKey: string }): Promise<Connection>;
  /** Loads the prompter with the first question. */
  prompter(): Promise<Prompter>;
  /** True if recordings answer instead of services. */
  readonly isReplay: boolean;
  /** Returns a command line that asks the configured service. */
  readonly formatCommand: FormatCommand;
  /** Returns the checks that run in separate processes; the same object each time. */
  checks(): Promise<Pick<CheckRunner, 'perform'>>;
  /** Returns the checks by Node; the same object each time. */
  nodeChecks(): Promise<Pick<NodeChecks, 'check'>>;
  /**
   * Reads declared models again, and ends programs that stay, so that both follow changed files.
   */
  renewModels(): Promise<void>;
  /** Returns the tasks on prompt files, which share their processes; the same object each time. */
  promptTasks(): Promise<PromptTasks>;
  readonly local: LocalService;
  readonly version: string;
  /** The local service's data directory. */
  readonly dataDir: string;
  /** The absolute path of the file of `--models`; undefined if none is named. */
  readonly modelsFile: string | undefined;
  /** More models, of configurations that are tested; added before a service is opened. */
  readonly declaredModels: ModelsText[];
  /** The directory of the journal, and of journals of batches without a results file. */
  readonly stateDir: string;
  /** The journal of the runs started on this machine; opened on first use. */
  readonly journal: Journal;
}
