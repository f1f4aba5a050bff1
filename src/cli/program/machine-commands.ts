import { type CommandEntry, LOCAL, SETTING_UP } from './command-entry.ts';

/** The commands that set this machine up and serve from it, in the order the help shows them. */
export const MACHINE_COMMANDS: readonly CommandEntry[] = [
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
    summary: 'explain a command or a topic, print a guide',
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
