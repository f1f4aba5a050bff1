import type { CommandSpec } from '../../core/command-spec.ts';

const RESOURCES_LIST = {
  summary: 'models and their run options',
  flags: [
    [
      '--modality <modality>',
      'only models for text, image or video',
      { completes: ['text', 'image', 'video'] },
    ],
    ['--model <model>', 'only this model'],
    ['--cached', 'show what is cached, send nothing'],
  ],
  examples: ['resources list --modality image', "models --cached --query '[].model'"],
  notes: 'Piped, a line is: model, modality, run options (key=value,value …).',
  load: () => import('../../commands/resources/resources.ts').then(file => file.resourcesList),
} as const satisfies Omit<CommandSpec, 'path'>;

const RESOURCES_REFRESH: Omit<CommandSpec, 'path'> = {
  summary: 'renew the cached models',
  examples: ['resources refresh'],
  load: () => import('../../commands/resources/resources.ts').then(file => file.resourcesRefresh),
};

const RESOURCES_STATUS: Omit<CommandSpec, 'path'> = {
  summary: 'which hash is cached, how old it is, and where it is kept',
  examples: ['resources status', 'resources status --query hash'],
  load: () => import('../../commands/resources/resources.ts').then(file => file.resourcesStatus),
};

/** The commands that look at what else a service has. */
export const LOOKING_COMMANDS: readonly CommandSpec[] = [
  {
    path: 'resources',
    aliases: ['resource'],
    ...RESOURCES_LIST,
    summary: 'what is cached of the models: list, renew, look at its hash',
    examples: ['resources', 'resources list --modality image', 'resources refresh'],
  },
  { path: 'resources list', ...RESOURCES_LIST },
  { path: 'resources refresh', ...RESOURCES_REFRESH },
  { path: 'resources status', ...RESOURCES_STATUS },
  {
    path: 'models',
    ...RESOURCES_LIST,
    summary: 'the models of a service, and the providers of this machine',
    examples: ['models', "models --cached --query '[].model'", 'models providers'],
  },
  { path: 'models list', ...RESOURCES_LIST },
  { path: 'models refresh', ...RESOURCES_REFRESH },
  { path: 'models status', ...RESOURCES_STATUS },
  {
    path: 'models discover',
    summary: 'write the models of your endpoints to models.yaml',
    examples: [
      'OPENAI_API_KEY=… promptrun models discover',
      'OPENAI_BASE_URL=http://localhost:8000/v1 promptrun models discover',
    ],
    notes: `Asks the providers whose keys are set (promptrun models providers lists
them), those that models.yaml describes, and Ollama on this machine (OLLAMA_HOST,
or port 11434). What models.yaml says already stays as it is.
Piped, a line is: provider, base URL, models added, models known before, what went wrong.`,
    load: () => import('../../commands/models/models.ts').then(file => file.modelsDiscover),
  },
  {
    path: 'models providers',
    summary: 'the providers whose models need no description, and whether their keys are set',
    examples: ['models providers', 'models providers --json'],
    notes: `A model's name may begin with one of them: openai/gpt-4o-mini.
<NAME>_BASE_URL moves one (GEMINI_BASE_URL for googleai, OLLAMA_HOST too);
models.yaml may describe more, under providers.
Piped, a line is: provider, address, variables that may hold its key, whether one is set.`,
    load: () => import('../../commands/models/models.ts').then(file => file.modelsProviders),
  },
  {
    path: 'account',
    summary: 'who the key belongs to, credits left',
    examples: ['account', 'account --query credits'],
    load: () => import('../../commands/account/account.ts').then(file => file.account),
  },
  {
    path: 'usage',
    summary: 'what the runs of a time cost',
    flags: [
      ['--since <time>', 'Unix seconds, ISO 8601 or an age such as 7d (default: 30d)'],
      ['--until <time>', 'likewise; now by default'],
      [
        '--by <what>',
        'prompt (default), day, model or status',
        { choices: ['prompt', 'day', 'model', 'status'] },
      ],
    ],
    examples: ['usage', 'usage --since 7d --by day', 'usage --by model --json'],
    notes: `Credits of any service; tokens and money of this machine's own.
Piped, a line is: what, runs, failed, credits, tokens in, out and cached (- if
not known), US dollars, and whether they are estimated.`,
    load: () => import('../../commands/usage/usage.ts').then(file => file.usage),
  },
  {
    path: 'api',
    summary: 'any endpoint, authenticated, as it answers',
    arguments: [
      ['<method>', 'GET, POST, PUT, PATCH or DELETE', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
      [
        '<path>',
        'below the base URL, such as /runs',
        ['/runs', '/resources', '/me', '/me/credits', '/prompts/publish'],
      ],
    ],
    flags: [
      ['-f, --field <key=value>', 'a query parameter or a field of the body; repeatable', { repeats: true }],
      ['--input <file>', 'send this file as the body; - is standard input'],
      ['--include', "print the answer's status and headers as well"],
      ['--paginate', 'follow a list to its end'],
    ],
    examples: [
      'api GET /runs -f limit=50 -f status=failed',
      "api GET /runs -f limit=50 --paginate --query 'data.rows[].runId'",
      'api POST /runs --input run.json',
    ],
    notes: `Fields become query parameters of GET and DELETE, otherwise fields of a JSON body; a[b]=c makes an object a with a
field b. --paginate prints one envelope a page. The answer is printed as it came, errors too; the exit code tells them apart.`,
    load: () => import('../../commands/api/api.ts').then(file => file.api),
  },
];
