import type { Declare } from '../context.ts';

/** A command of the tree: what the help of its parent says of it, and where the rest is. */
export interface CommandEntry {
  /** The words that call it, such as `runs list`. */
  readonly path: string;
  readonly summary: string;
  /** Under which heading its parent's help shows it. */
  readonly heading?: string;
  /** Loaded when the command, or its help, is asked for. */
  readonly load: () => Promise<Declare>;
  readonly hidden?: boolean;
}

/** A noun that has verbs. */
export interface GroupEntry {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly heading: string;
  /** Arguments that show what it is for. */
  readonly examples: readonly string[];
  /** What it does without a verb; by default it explains itself. */
  readonly load?: CommandEntry['load'];
}

const RUNNING = 'Run prompts:';
const LOOKING = 'Look around:';
const SETTING_UP = 'Set up:';
const LOCAL = 'The local service:';

/** The headings in the order the help shows them. */
export const HEADINGS: readonly string[] = [RUNNING, LOOKING, SETTING_UP, LOCAL];

export const GROUPS: readonly GroupEntry[] = [
  {
    name: 'runs',
    aliases: [],
    summary: 'list, read, await and save runs',
    heading: RUNNING,
    examples: ['runs list --status failed', 'runs wait --last'],
  },
  {
    name: 'prompts',
    aliases: ['prompt'],
    summary: 'find, read, check and publish prompts',
    heading: LOOKING,
    examples: ['prompts', 'prompts get hello', 'prompts new haiku.prompt'],
    load: () => import('../commands/prompts/find.ts').then(file => file.declarePrompts),
  },
  {
    name: 'versions',
    aliases: ['version'],
    summary: 'the published versions of a prompt',
    heading: LOOKING,
    examples: ['versions list hello', 'versions diff hello'],
  },
  {
    name: 'resources',
    aliases: ['resource'],
    summary: 'models and their run options',
    heading: LOOKING,
    examples: ['resources list --modality image', 'resources refresh'],
  },
  {
    name: 'profile',
    aliases: ['profiles'],
    summary: 'named sets of base URL and key',
    heading: SETTING_UP,
    examples: ['profile add work --base-url https://prompts.example.com/v1', 'profile use work'],
  },
  {
    name: 'config',
    aliases: [],
    summary: 'settings',
    heading: SETTING_UP,
    examples: ['config list', 'config set concurrency 8'],
  },
  {
    name: 'alias',
    aliases: ['aliases'],
    summary: 'short names for targets',
    heading: SETTING_UP,
    examples: ['alias set haiku ./haiku.prompt', 'alias list'],
  },
  {
    name: 'keys',
    aliases: ['key'],
    summary: 'API keys of the local service',
    heading: LOCAL,
    examples: ['keys create --user ci', 'keys list'],
  },
];

const resourcesList = (): Promise<Declare> =>
  import('../commands/resources/list.ts').then(file => file.declareResourcesList);

/** Every command there is, in the order the help shows them. */
export const COMMANDS: readonly CommandEntry[] = [
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
    load: () => import('../commands/versions/list.ts').then(file => file.declareVersionsList),
  },
  {
    path: 'versions get',
    summary: 'one version and its inputs',
    load: () => import('../commands/versions/get.ts').then(file => file.declareVersionsGet),
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
  {
    path: 'login',
    summary: 'store an API key for a profile',
    heading: SETTING_UP,
    load: () => import('../commands/login/login.ts').then(file => file.declareLogin),
  },
  {
    path: 'logout',
    summary: 'forget the API key of a profile',
    heading: SETTING_UP,
    load: () => import('../commands/logout/logout.ts').then(file => file.declareLogout),
  },
  {
    path: 'doctor',
    summary: 'check configuration, reachability, key, cache and terminal',
    heading: SETTING_UP,
    load: () => import('../commands/doctor/doctor.ts').then(file => file.declareDoctor),
  },
  {
    path: 'reset',
    summary: 'clear caches, journal or all that is kept',
    heading: SETTING_UP,
    load: () => import('../commands/reset/reset.ts').then(file => file.declareReset),
  },
  {
    path: 'completion',
    summary: 'print the completion script of a shell',
    heading: SETTING_UP,
    load: () => import('../commands/completion/completion.ts').then(file => file.declareCompletion),
  },
  {
    path: 'profile list',
    summary: 'the profiles there are',
    load: () => import('../commands/profile/profile.ts').then(file => file.declareProfileList),
  },
  {
    path: 'profile use',
    summary: 'make a profile the active one',
    load: () => import('../commands/profile/profile.ts').then(file => file.declareProfileUse),
  },
  {
    path: 'profile add',
    summary: 'add a profile, or change where one leads',
    load: () => import('../commands/profile/profile.ts').then(file => file.declareProfileAdd),
  },
  {
    path: 'profile remove',
    summary: 'forget a profile and its key',
    load: () => import('../commands/profile/profile.ts').then(file => file.declareProfileRemove),
  },
  {
    path: 'config get',
    summary: 'the value of a setting',
    load: () => import('../commands/config/value.ts').then(file => file.declareConfigGet),
  },
  {
    path: 'config set',
    summary: 'change a setting',
    load: () => import('../commands/config/value.ts').then(file => file.declareConfigSet),
  },
  {
    path: 'config unset',
    summary: 'put a setting back to its default',
    load: () => import('../commands/config/value.ts').then(file => file.declareConfigUnset),
  },
  {
    path: 'config list',
    summary: 'every setting with its value',
    load: () => import('../commands/config/list.ts').then(file => file.declareConfigList),
  },
  {
    path: 'config path',
    summary: 'every place where something is kept',
    load: () => import('../commands/config/path.ts').then(file => file.declareConfigPath),
  },
  {
    path: 'alias set',
    summary: 'give a target a short name',
    load: () => import('../commands/alias/alias.ts').then(file => file.declareAliasSet),
  },
  {
    path: 'alias remove',
    summary: 'forget an alias',
    load: () => import('../commands/alias/alias.ts').then(file => file.declareAliasRemove),
  },
  {
    path: 'alias list',
    summary: 'the aliases there are',
    load: () => import('../commands/alias/alias.ts').then(file => file.declareAliasList),
  },
  {
    path: 'serve',
    summary: 'offer the local service over HTTP',
    heading: LOCAL,
    load: () => import('../commands/serve/serve.ts').then(file => file.declareServe),
  },
  {
    path: 'keys create',
    summary: 'create a key and print it once',
    load: () => import('../commands/keys/keys.ts').then(file => file.declareKeysCreate),
  },
  {
    path: 'keys list',
    summary: 'the keys there are, never their text',
    load: () => import('../commands/keys/keys.ts').then(file => file.declareKeysList),
  },
  {
    path: 'keys revoke',
    summary: 'make a key invalid',
    load: () => import('../commands/keys/keys.ts').then(file => file.declareKeysRevoke),
  },
  {
    path: 'help',
    summary: 'explain a command, flags, environment or exit-codes',
    heading: SETTING_UP,
    load: () => import('../commands/help/help.ts').then(file => file.declareHelp),
  },
  {
    path: '__complete',
    summary: 'candidates for the completion scripts',
    hidden: true,
    load: () => import('../complete/complete.ts').then(file => file.declareComplete),
  },
];
