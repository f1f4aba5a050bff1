import type { Declare } from '../context.ts';
import { type CommandEntry, LOOKING, RUNNING } from './command-entry.ts';

const resourcesList = (): Promise<Declare> =>
  import('../commands/resources/list.ts').then(file => file.declareResourcesList);

/** The commands that run prompts and look at what a service has, in the order the help shows them. */
export const SERVICE_COMMANDS: readonly CommandEntry[] = [
  {
    path: 'run',
    summary: 'create a run, wait for it, give its outputs',
    heading: RUNNING,
    load: () => import('../commands/run/run.ts').then(file => file.declareRun),
  },
  {
    path: 'batch',
    summary: 'one run for each row of a CSV or JSONL file',
    heading: RUNNING,
    load: () => import('../commands/batch/batch.ts').then(file => file.declareBatch),
  },
  {
    path: 'test',
    summary: 'run the cases beside prompt files and check what comes back',
    heading: RUNNING,
    load: () => import('../commands/test/test.ts').then(file => file.declareTest),
  },
  {
    path: 'compare',
    summary: 'the same rows through several versions or models, side by side',
    heading: RUNNING,
    load: () => import('../commands/compare/compare.ts').then(file => file.declareCompare),
  },
  {
    path: 'runs list',
    summary: 'own runs, newest first',
    load: () => import('../commands/runs/list.ts').then(file => file.declareRunsList),
  },
  {
    path: 'runs get',
    summary: 'the outputs of a run, as run gives them',
    load: () => import('../commands/runs/get.ts').then(file => file.declareRunsGet),
  },
  {
    path: 'runs show',
    summary: 'the facts of a run: status, prompt, name, times, credits, tokens',
    load: () => import('../commands/runs/show.ts').then(file => file.declareRunsShow),
  },
  {
    path: 'runs wait',
    summary: 'wait until a run ends, then give its outputs',
    load: () => import('../commands/runs/wait.ts').then(file => file.declareRunsWait),
  },
  {
    path: 'runs cancel',
    summary: 'end runs that have not ended, of the local service',
    load: () => import('../commands/runs/cancel.ts').then(file => file.declareRunsCancel),
  },
  {
    path: 'runs rerun',
    summary: 'the same run once more, with what you change',
    load: () => import('../commands/runs/rerun.ts').then(file => file.declareRunsRerun),
  },
  {
    path: 'runs save',
    summary: 'write the outputs of runs to files',
    load: () => import('../commands/runs/save.ts').then(file => file.declareRunsSave),
  },
  {
    path: 'runs journal',
    summary: 'runs started on this machine',
    load: () => import('../commands/runs/journal.ts').then(file => file.declareRunsJournal),
  },
  {
    path: 'prompts list',
    summary: 'all prompts of the local service',
    load: () => import('../commands/prompts/find.ts').then(file => file.declarePromptsList),
  },
  {
    path: 'prompts get',
    summary: 'title, version and inputs of a prompt',
    load: () => import('../commands/prompts/get.ts').then(file => file.declarePromptsGet),
  },
  {
    path: 'prompts search',
    summary: 'find prompts',
    load: () => import('../commands/prompts/find.ts').then(file => file.declarePromptsSearch),
  },
  {
    path: 'prompts new',
    summary: 'a prompt file to start from, and its test file',
    load: () => import('../commands/prompts/new.ts').then(file => file.declarePromptsNew),
  },
  {
    path: 'prompts check',
    summary: 'every fault of prompt files, with its place',
    load: () => import('../commands/prompts/check.ts').then(file => file.declarePromptsCheck),
  },
  {
    path: 'prompts render',
    summary: 'what a model would be sent',
    load: () => import('../commands/prompts/render.ts').then(file => file.declarePromptsRender),
  },
  {
    path: 'prompts publish',
    summary: 'publish prompt files to the local service',
    load: () => import('../commands/prompts/publish.ts').then(file => file.declarePromptsPublish),
  },
  {
    path: 'versions list',
    summary: 'published versions of a prompt, newest first',
    load: () => import('../commands/versions/versions.ts').then(file => file.declareVersionsList),
  },
  {
    path: 'versions get',
    summary: 'one version and its inputs',
    load: () => import('../commands/versions/versions.ts').then(file => file.declareVersionsGet),
  },
  {
    path: 'versions diff',
    summary: 'what changed between two versions',
    load: () => import('../commands/versions/diff.ts').then(file => file.declareVersionsDiff),
  },
  { path: 'resources list', summary: 'models and their run options', load: resourcesList },
  {
    path: 'resources refresh',
    summary: 'renew the cached resources',
    load: () => import('../commands/resources/cache.ts').then(file => file.declareResourcesRefresh),
  },
  {
    path: 'resources status',
    summary: 'which hash is held, how old, and where',
    load: () => import('../commands/resources/cache.ts').then(file => file.declareResourcesStatus),
  },
  { path: 'models', summary: 'the same as resources list', heading: LOOKING, load: resourcesList },
  {
    path: 'models discover',
    summary: 'write the models of your endpoints to models.yaml',
    load: () => import('../commands/models/discover.ts').then(file => file.declareModelsDiscover),
  },
  {
    path: 'models providers',
    summary: 'the providers whose models need no description, and whether their keys are set',
    load: () => import('../commands/models/providers.ts').then(file => file.declareModelsProviders),
  },
  {
    path: 'account',
    summary: 'who the key belongs to, credits left',
    heading: LOOKING,
    load: () => import('../commands/account/account.ts').then(file => file.declareAccount),
  },
  {
    path: 'api',
    summary: 'any endpoint, authenticated, as it answers',
    heading: LOOKING,
    load: () => import('../commands/api/api.ts').then(file => file.declareApi),
  },
];
