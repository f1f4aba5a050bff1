import type { CommandSpec } from '../../core/command-spec.ts';
import { SETTING_KEYS, SETTINGS } from '../../settings/config/setting-keys.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'];

/** The commands that set this machine up. */
export const SETTING_UP_COMMANDS: readonly CommandSpec[] = [
  {
    path: 'login',
    summary: 'store an API key for a profile',
    flags: [['--no-keychain', 'keep the key in a file, not in the system keychain']],
    examples: [
      'login --base-url https://prompts.example.com/v1',
      'login --profile work --base-url https://prompts.example < key.txt',
    ],
    notes:
      'The address and the key are asked for; off a terminal the key is read from standard input. It is checked before it is kept.',
    load: () => import('../../commands/login/login.ts').then(file => file.login),
  },
  {
    path: 'logout',
    summary: 'forget the API key of a profile',
    examples: ['logout', 'logout --profile work'],
    load: () => import('../../commands/login/login.ts').then(file => file.logout),
  },
  {
    path: 'doctor',
    summary: 'check configuration, reachability, key, cache and terminal',
    examples: ['doctor', "doctor --profile work --query 'checks[?!ok].detail'"],
    notes: `The exit code is that of the first check that failed: 2 configuration, 1 reachability, 3 key.
Piped, a line is: check; ok, failed or skipped; what was found.`,
    load: () => import('../../commands/doctor/doctor.ts').then(file => file.doctor),
  },
  {
    path: 'reset',
    summary: 'clear caches, journal or all that is kept',
    arguments: [['<part>', 'caches, journal, all', ['caches', 'journal', 'all']]],
    flags: [['-y, --yes', 'do not ask']],
    examples: ['reset caches', 'reset all --yes'],
    notes: `caches   models and prompts that were read; they are read again
journal  what is known of runs started on this machine; the runs themselves stay at their services
all      both, and profiles, keys, aliases and settings

The prompts, runs and keys of the local service are never touched: see promptrun config path.`,
    load: () => import('../../commands/reset/reset.ts').then(file => file.reset),
  },
  {
    path: 'completion',
    summary: 'print the completion script of a shell',
    arguments: [['<shell>', SHELLS.join(', '), SHELLS]],
    examples: [
      "bash: echo 'source <(promptrun completion bash)' >> ~/.bashrc",
      "zsh:  echo 'source <(promptrun completion zsh)' >> ~/.zshrc",
      'fish: promptrun completion fish > ~/.config/fish/completions/promptrun.fish',
      'powershell: promptrun completion powershell | Add-Content $PROFILE',
    ],
    notes:
      'These install it for good; it works in shells that are started afterwards. Prompts are offered by their slugs, with their inputs.',
    load: () => import('../../commands/completion/completion.ts').then(file => file.completion),
  },
  {
    path: 'profile',
    aliases: ['profiles'],
    summary: 'named sets of base URL and key',
    examples: ['profile add work --base-url https://prompts.example.com/v1', 'profile use work'],
  },
  {
    path: 'profile list',
    summary: 'the profiles there are',
    examples: ['profile list', "profile list --query '[?active].name | [0]'"],
    notes:
      'Piped, a line is: name, base URL, where the key is kept (file, keychain or none), active or nothing.',
    load: () => import('../../commands/profile/profile.ts').then(file => file.profileList),
  },
  {
    path: 'profile use',
    summary: 'make a profile the active one',
    arguments: [['<name>', 'a profile, or local', 'profiles']],
    examples: ['profile use work', 'profile use local       # the built-in service'],
    load: () => import('../../commands/profile/profile.ts').then(file => file.profileUse),
  },
  {
    path: 'profile add',
    summary: 'add a profile, or change where one leads',
    arguments: [['<name>', 'what to call it']],
    examples: ['profile add work --base-url https://prompts.example.com/v1', 'login --profile work'],
    load: () => import('../../commands/profile/profile.ts').then(file => file.profileAdd),
  },
  {
    path: 'profile remove',
    summary: 'forget a profile and its key',
    arguments: [['<name>', 'the profile', 'profiles']],
    examples: ['profile remove work'],
    load: () => import('../../commands/profile/profile.ts').then(file => file.profileRemove),
  },
  {
    path: 'config',
    summary: 'settings',
    examples: ['config list', 'config set concurrency 8'],
  },
  {
    path: 'config get',
    summary: 'the value of a setting',
    arguments: [['<key>', 'a setting']],
    examples: ['config get concurrency'],
    notes: `Settings: ${SETTING_KEYS.join(', ')}`,
    load: () => import('../../commands/config/config.ts').then(file => file.configGet),
  },
  {
    path: 'config set',
    summary: 'change a setting',
    arguments: [
      ['<key>', 'a setting'],
      ['<value>', 'its new value'],
    ],
    examples: ['config set concurrency 8', 'config set saveDir ~/pictures'],
    notes: `Settings:
${SETTING_KEYS.map(key => `  ${key.padEnd(12)} ${SETTINGS[key].description} (${SETTINGS[key].form})`).join('\n')}`,
    load: () => import('../../commands/config/config.ts').then(file => file.configSet),
  },
  {
    path: 'config unset',
    summary: 'put a setting back to its default',
    arguments: [['<key>', 'a setting']],
    examples: ['config unset concurrency'],
    load: () => import('../../commands/config/config.ts').then(file => file.configUnset),
  },
  {
    path: 'config list',
    summary: 'every setting with its value',
    examples: ['config list'],
    notes: 'Piped, a line is: key, value, set or default.',
    load: () => import('../../commands/config/config.ts').then(file => file.configList),
  },
  {
    path: 'config path',
    summary: 'every place where something is kept',
    examples: ['config path', `config path --query "[?name=='config'].path | [0]"`],
    notes: 'Piped, a line is: name, path, what is kept there.',
    load: () => import('../../commands/config/config.ts').then(file => file.configPath),
  },
  {
    path: 'alias',
    aliases: ['aliases'],
    summary: 'short names for targets',
    examples: ['alias set haiku ./haiku.prompt', 'alias list'],
  },
  {
    path: 'alias set',
    summary: 'give a target a short name',
    arguments: [
      ['<name>', 'the short name', 'aliases'],
      ['<target>', 'a prompt version, prompt, slug or prompt file'],
    ],
    examples: ['alias set haiku 3f1c9a52-6a0e-4a57-9d0e-6f1c2b7a8d90', 'run haiku -i topic=tea'],
    load: () => import('../../commands/alias/alias.ts').then(file => file.aliasSet),
  },
  {
    path: 'alias remove',
    summary: 'forget an alias',
    arguments: [['<name>', 'the alias', 'aliases']],
    examples: ['alias remove haiku'],
    load: () => import('../../commands/alias/alias.ts').then(file => file.aliasRemove),
  },
  {
    path: 'alias list',
    summary: 'the aliases there are',
    examples: ['alias list'],
    notes: 'Piped, a line is: name, target.',
    load: () => import('../../commands/alias/alias.ts').then(file => file.aliasList),
  },
  {
    path: 'help',
    summary: 'explain a command or a topic, print a guide',
    arguments: [['[topic...]', 'a command, or one of the topics or guides below']],
    examples: ['help runs list', 'help environment', 'help prompt-files'],
    notes: `Topics: flags, environment, exit-codes
Guides: prompt-files, tests, batch, services, models, serve, agents,
moving; after the help of the command if there is one of that name`,
    loadWithoutContext: () => import('../../commands/help/help.ts').then(file => file.help),
  },
];
