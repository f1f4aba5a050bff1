import type { Command } from 'commander';
import { MODALITIES, RUN_STATUSES } from '../../wire/index.ts';
import type { Context, Host } from '../context.ts';
import { visible } from '../terminal/sanitise.ts';
import { Known } from './cached-facts.ts';
import { type Call, flagWithValue, isFlag, readCall, takesArguments } from './call.ts';
import type { Candidate } from './files.ts';
import type { Line } from './line.ts';
import {
  aliases,
  anyOf,
  files,
  helpTopics,
  inputs,
  models,
  profiles,
  promptFiles,
  prompts,
  runOptions,
  runs,
  type Source,
  settingKeys,
  settingValues,
  targets,
  testFiles,
  versions,
  words,
} from './sources.ts';

/** Everything the word under the cursor may become. A source that can't be read gives nothing. */
export async function candidatesFor(
  ctx: Context,
  root: Command,
  declare: Host['declare'],
  { words, current }: Line,
): Promise<Candidate[]> {
  const call = await readCall(root, words, declare);
  if (call === undefined) return [];
  const { source, prefix } = sourceFor(call, current);
  const typed = current.slice(prefix.length);
  const lineCtx = withFlags(ctx, call);
  const found = await Promise.resolve({ ctx: lineCtx, call, declare, known: new Known(lineCtx), typed })
    .then(source)
    .catch(() => []);
  return found
    .filter(({ value }) => value.startsWith(typed) && isTypeable(value))
    .map(candidate => ({ ...candidate, value: prefix + candidate.value }));
}

const none: Source = () => [];

/** Where candidates come from, and what of the word stands before them. */
function sourceFor(call: Call, current: string): { readonly source: Source; readonly prefix: string } {
  if (call.open !== undefined) return { source: flagSource(call, call.open.long), prefix: '' };
  if (isFlag(current) && !call.onlyOperands) {
    const flag = flagWithValue(current, call.options);
    if (flag === undefined) return { source: flagNames, prefix: '' };
    return { source: flagSource(call, flag.option.long), prefix: flag.prefix };
  }
  const sources = [
    ...(call.command.commands.length > 0 && call.operands.length === 0 ? [commandNames] : []),
    ...(takesArguments(call.command) ? [argumentSource(call)] : []),
  ];
  return { source: anyOf(...sources), prefix: '' };
}

function flagSource({ path, options }: Call, flag = ''): Source {
  const choices = options.find(({ long }) => long === flag)?.argChoices;
  if (choices !== undefined) return words(...choices);
  return FLAG_SOURCES[`${path} ${flag}`] ?? FLAG_SOURCES[flag] ?? none;
}

function argumentSource({ command, path, operands }: Call): Source {
  const sources = ARGUMENT_SOURCES[path] ?? [];
  const repeats = command.registeredArguments.at(-1)?.variadic === true;
  return sources[operands.length] ?? (repeats ? sources.at(-1) : undefined) ?? none;
}

const commandNames: Source = ({ call: { command } }) =>
  command
    .createHelp()
    .visibleCommands(command)
    .map(one => ({ value: one.name(), description: one.summary() }));

/** Long names, and short ones where there is no other; a flag that was given comes again only if it may. */
const flagNames: Source = ({ call: { options, given } }) =>
  options
    .filter(option => Array.isArray(option.defaultValue) || !given.has(option.long ?? option.short ?? ''))
    .map(option => ({ value: option.long ?? option.short ?? '', description: option.description }));

/** The context with the flags of the line that is completed, which choose the service. */
function withFlags(ctx: Context, { given }: Call): Context {
  const last = (flag: string): string | undefined => given.get(flag)?.at(-1);
  const [profile, baseUrl] = [last('--profile'), last('--base-url')];
  return {
    ...ctx,
    globals: {
      ...ctx.globals,
      ...(profile !== undefined && { profile }),
      ...(baseUrl !== undefined && { baseUrl }),
      insecureHttp: given.has('--insecure-http'),
    },
  };
}

/** What holds a control character can't be typed, and would break the lines the shells read. */
function isTypeable(value: string): boolean {
  return !/[\t\n]/u.test(value) && visible(value) === value;
}

/** What the value of a flag may be: by flag, or by command and flag where they differ. */
const FLAG_SOURCES: Readonly<Record<string, Source>> = {
  '--profile': profiles,
  '--status': words(...RUN_STATUSES),
  '--modality': words(...MODALITIES),
  '--model': models,
  '--starting-after': runs,
  '--ending-before': runs,
  '--version-id': versions,
  'run --input': inputs,
  'run --option': runOptions,
  'batch --input': inputs,
  'batch --option': runOptions,
  'compare --input': inputs,
  'compare --option': runOptions,
  'api --input': files,
  '--inputs': files,
  '--image': files,
  '--from': files,
  '--out': files,
  '--save': files,
  '--to': files,
  '--schema': files,
  '--html': files,
  '--report': files,
  '--record': files,
  '--replay': files,
  '--media-dir': files,
  '--judge': models,
  'prompts render --input': inputs,
  '--prompts': files,
  '--plan': words('pro', 'none'),
};

/** What the arguments of a command may be, in order; the last one goes for all that follow where it repeats. */
const ARGUMENT_SOURCES: Readonly<Record<string, readonly Source[]>> = {
  run: [targets],
  batch: [targets],
  'batch report': [files],
  compare: [targets],
  test: [testFiles],
  'runs get': [runs],
  'runs wait': [runs],
  'runs save': [runs],
  'runs show': [runs],
  reset: [words('caches', 'journal', 'all')],
  'prompts new': [promptFiles],
  'prompts check': [promptFiles],
  'prompts render': [targets],
  'versions diff': [prompts, versions],
  'prompts get': [targets],
  'prompts publish': [promptFiles],
  'versions list': [prompts],
  'versions get': [prompts],
  'profile use': [profiles],
  'profile remove': [profiles],
  'alias set': [aliases, targets],
  'alias remove': [aliases],
  'config get': [settingKeys],
  'config set': [settingKeys, settingValues],
  'config unset': [settingKeys],
  api: [
    words('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    words('/runs', '/resources', '/me', '/me/credits', '/prompts/publish'),
  ],
  completion: [words('bash', 'zsh', 'fish', 'powershell')],
  help: [helpTopics],
};
