import { loadModels, type ModelTable } from '../models/catalogue/model-table.ts';
import { createResourcesView } from '../models/catalogue/resources-view.ts';
import { createEngines } from '../models/engines.ts';
import type { BatchAnswer } from '../models/provider-batches/batch-provider.ts';
import { describeImage } from '../prompts/render/describe-image.ts';
import { SharedTasks } from '../prompts/tasks/prompt-tasks.ts';
import { SYNC_WINDOW_MS } from '../wire/index.ts';
import type { Clock } from './core/clock.ts';
import type { Meter } from './core/meter.ts';
import { createNoticeLimiter } from './core/notice-limiter.ts';
import type { RateLimiter } from './core/rate-limiter.ts';
import { type Api, createApi } from './http/api.ts';
import { type AuthOptions, CallerCache, createKeyUseRecorder } from './http/auth.ts';
import { parseBodyHere } from './http/parse-body.ts';
import type { WorkThread } from './http/work-thread/work-thread.ts';
import { ensureLocalUser, generateKeyText, hashKey } from './keys/keys.ts';
import { type Media, type MediaOutput, openMedia } from './media/media.ts';
import { Definitions } from './prompts/definitions.ts';
import { seedSamples } from './prompts/seed-samples.ts';
import type { AnyRoute, Services } from './routes/services.ts';
import { createCosts } from './runs/costs.ts';
import { createExecutor, type Executor, type ExecutorOptions } from './runs/execution/executor.ts';
import { HeldResults } from './runs/execution/held-results.ts';
import type { RunEnd, Runner, RunnerOptions } from './runs/execution/runner.ts';
import { TextFeed } from './runs/execution/text-feed.ts';
import { openUnstoredRuns } from './runs/execution/unstored-runs.ts';
import { InputFiles } from './runs/input-files.ts';
import { loadImageInputs } from './runs/load-images.ts';
import type { ProviderBatches, ProviderBatchesOptions } from './runs/provider-batches.ts';
import type { CommonOptions, RunEndEvent } from './service-options.ts';
import type { Store } from './store/store.ts';
import { explainStoreFault } from './store/store-errors.ts';

/** The parts of a service, composed but not started. */
export type ServiceParts<R extends Runner> = Awaited<ReturnType<typeof compose<R>>>;

/** Default number of queued runs of a user. */
const DEFAULT_MAX_QUEUED_RUNS = 10_000;

/** Default space for the media of a user, in bytes. */
const DEFAULT_MAX_MEDIA_BYTES = 2 * 1024 ** 3;

export interface ComposeOptions<R extends Runner> extends CommonOptions {
  createRunner: (options: RunnerOptions, models: ModelTable) => R;
  onNotice: (line: string) => void;
  clock: Clock;
  routes: readonly AnyRoute[];
  /** Returns the URL of an output's media; `origin` is that of the request. */
  mediaUrl: (media: Media, output: MediaOutput, origin: string) => string;
  /** True to show the templates of prompts only to the user `local`; default false. */
  hideTemplates?: boolean | undefined;
  maxQueuedRunsPerUser?: number | undefined;
  /** Limits the requests of each key; undefined for no limit. */
  limiter?: RateLimiter | undefined;
  /** The value of the `RateLimit-Policy` header. */
  ratePolicy?: string | undefined;
  /** True to watch `models.yaml` for changes. */
  watchModels: boolean;
  meter?: Meter | undefined;
  /** The thread for long work on bytes of users; default the main thread, for a single user. */
  thread?: WorkThread | undefined;
  /** True if the operator, who alone can act on some remedies, is the only user. */
  isForOneUser: boolean;
  /** See `ExecutorOptions`. */
  forgetsUnaskedRequests: boolean;
  /** See `ExecutorOptions`; default true. */
  allowsPrograms?: () => Promise<boolean>;
  /** See `PrivateRules`. */
  onUnresolved: (host: string) => string;
  /**
   * Aborted once load balancers should send no new requests, although the service still accepts
   * them; default `closing`.
   */
  draining?: AbortSignal;
  /** Aborted once the service accepts no new requests. */
  closing: AbortSignal;
  /** Aborted once requests in flight must end. */
  stopping: AbortSignal;
}

/** Builds the parts of a service in the order of their dependencies. */
export async function compose<R extends Runner>(store: Store, options: ComposeOptions<R>) {
  const { clock, onNotice, onRunEnd, env = {} } = options;
  const user = await ensureLocalUser(store);
  await seedSamples(store, clock);
  const baseParts = await openBaseParts(store, options);
  const textFeed = new TextFeed();
  const notifyOperator = options.isForOneUser ? undefined : createNoticeLimiter(onNotice, clock);
  const limits = {
    maxQueuedRuns: options.maxQueuedRunsPerUser ?? DEFAULT_MAX_QUEUED_RUNS,
    maxMediaBytes: options.maxMediaBytes ?? DEFAULT_MAX_MEDIA_BYTES,
  };

  const executor = buildExecutor({ ...baseParts, textFeed, notifyOperator }, options);
  const runnerOptions = {
    ...baseParts,
    executor,
    onRunEnd: onRunEnd && withUserName(store, onRunEnd),
    limits,
    meter: options.meter,
  };
  const runner = options.createRunner(runnerOptions, baseParts.models);

  const resources = createResourcesView(baseParts.models);
  const services = buildServices(
    { ...baseParts, runner, limits, resources, notifyOperator },
    options,
  );
  const sessionKeyText = generateKeyText();
  const sessionKey = { hash: hashKey(sessionKeyText), userId: user.id };

  return {
    ...baseParts,
    api: buildApi({ ...baseParts, services, sessionKey }, options),
    runner,
    textFeed,
    /** A key of the user `local` that is never stored. */
    sessionKey: sessionKeyText,
    userId: user.id,
    costs: createCosts({ ...baseParts, userId: user.id }),
    providerBatches: () =>
      loadProviderBatches({
        services,
        userId: user.id,
        env,
        batchAnswers: baseParts.batchAnswers,
        signal: options.stopping,
      }),
  };
}

type Options = ComposeOptions<Runner>;

/** Opens the parts that need nothing but the store and its directory. */
async function openBaseParts(store: Store, options: Options) {
  const { dataDir, clock, onNotice, env = {} } = options;
  const report = createNoticeLimiter(onNotice, clock);
  const onFault = (error: unknown): void => report(`fault: ${explainStoreFault(dataDir, error)}`);

  const onResultHeld = (error: unknown): void => {
    const reason = explainStoreFault(dataDir, error);
    report(`an answer waits in memory until it can be stored: ${reason}`);
  };

  const models = await loadModels({
    dataDir,
    env,
    modelsFile: options.modelsFile,
    declaredModels: options.declaredModels,
    watch: options.watchModels,
    onProblem: error => onNotice(error.message),
  });

  const engines = createEngines({
    env,
    privateRules: pickPrivateRules(options),
    dataDir,
    directory: options.workingDirectory,
  });

  const tasks = new SharedTasks({ isForOneUser: options.isForOneUser });

  return {
    store,
    clock,
    models,
    engines,
    tasks,
    definitions: new Definitions(store, tasks),
    media: openMedia(dataDir, store, clock),
    inputFiles: new InputFiles(store.blobs, store.runs, clock),
    batchAnswers: new Map<string, BatchAnswer>(),
    programRunIds: new Set<string>(),
    heldResults: new HeldResults({ clock, onFault }),
    unstoredRuns: openUnstoredRuns(dataDir),
    defaultModel: options.defaultModel,
    onFault,
    onResultHeld,
  };
}

type BaseParts = Awaited<ReturnType<typeof openBaseParts>>;

function pickPrivateRules({ allowPrivate, onUnresolved }: Options) {
  return { allowPrivate, onUnresolved };
}

function buildExecutor(
  parts: BaseParts & Pick<ExecutorOptions, 'textFeed' | 'notifyOperator'>,
  { onNotice, forgetsUnaskedRequests, allowsPrograms, thread }: Options,
): Executor {
  return createExecutor({
    ...parts,
    forgetsUnaskedRequests,
    allowsPrograms: allowsPrograms ?? (() => Promise.resolve(true)),
    describeImage: thread?.describeImage ?? describeImage,
    onNotice,
  });
}

function buildServices(
  parts: BaseParts & Pick<Services, 'runner' | 'limits' | 'resources' | 'notifyOperator'>,
  options: Options,
): Services {
  const { closing, stopping, env = {} } = options;
  const rules = { ...pickPrivateRules(options), signal: stopping, env, open: options.openUrl };
  return {
    ...parts,
    draining: options.draining ?? closing,
    syncWindowMs: options.syncWindowMs ?? SYNC_WINDOW_MS,
    hideTemplates: options.hideTemplates ?? false,
    mediaUrl: (output, origin) => options.mediaUrl(parts.media, output, origin),
    loadImages: (images, onBytes) => loadImageInputs(images, { ...rules, onBytes }),
  };
}

function buildApi(
  parts: BaseParts & Pick<AuthOptions, 'sessionKey'> & { readonly services: Services },
  { routes, limiter, ratePolicy, closing, thread }: Options,
): Api {
  const { store, clock, onFault, services, sessionKey } = parts;
  return createApi({
    routes,
    services,
    auth: {
      store,
      sessionKey,
      limiter,
      callers: new CallerCache(),
      ratePolicy,
      resourcesHash: () => services.resources.getHash(),
      recordKeyUse: createKeyUseRecorder(store, clock, onFault),
    },
    closing,
    parseBody: thread?.parseBody ?? (bytes => Promise.resolve(parseBodyHere(bytes))),
    onFault,
  });
}

/** Adds the user's name to the end of a run, for the log. */
function withUserName(store: Store, onRunEnd: (run: RunEndEvent) => void): (run: RunEnd) => void {
  return run => {
    const search = store.accounts.findUser(run.userId).catch(() => undefined);
    void search.then(user => onRunEnd({ ...run, user: user?.name }));
  };
}

async function loadProviderBatches(options: ProviderBatchesOptions): Promise<ProviderBatches> {
  const module = await import('./runs/provider-batches.ts');
  return new module.ProviderBatches(options);
}
