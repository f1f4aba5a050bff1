import { findHomeDirectory } from '../../files/user-folders.ts';
import type { Context } from '../context.ts';
import {
  type CommandTable,
  type CompletionSource,
  getCommandName,
  listSubcommands,
} from '../core/command-spec.ts';
import { formatIsoAge } from '../core/durations.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import { listPathCompletions } from '../questions/path-completions.ts';
import { LOCAL_PROFILE } from '../settings/config/profile-name.ts';
import { SETTING_KEYS, SETTINGS } from '../settings/config/setting-keys.ts';
import type { CachedFacts, KnownPrompt } from './cached-facts.ts';
import { findSubcommand, type TypedCommand } from './typed-command.ts';

/** A completion of the word under the cursor. */
export interface Candidate {
  /** The whole word, unquoted. */
  readonly value: string;
  readonly description?: string;
  /** True if the word continues, as after `key=` or a directory: no space is added. */
  readonly isPartial?: boolean;
}

export interface SourceRequest {
  readonly ctx: Context;
  readonly typedCommand: TypedCommand;
  readonly table: CommandTable;
  readonly facts: CachedFacts;
  /** The typed part of the word, without its flag. */
  readonly typedPart: string;
}

/** Returns candidates for a word. Its caller removes those that don't begin with the typed part. */
export type CandidateSource = (
  request: SourceRequest,
) => readonly Candidate[] | Promise<readonly Candidate[]>;

export const suggestCommands: CandidateSource = ({ typedCommand: { subcommands } }) =>
  subcommands.map(command => ({ value: getCommandName(command), description: command.summary }));

/**
 * Returns the names of flags, long if possible. Leaves out flags that are on the line already, unless
 * they are repeatable.
 */
export const suggestFlags: CandidateSource = ({ typedCommand: { flags, flagValues } }) =>
  flags
    .filter(({ name, repeats }) => repeats || !flagValues.has(name))
    .map(({ name, description }) => ({ value: name, description }));

const createFileSource =
  (pattern: RegExp): CandidateSource =>
  ({ ctx: { cwd, env }, typedPart }) =>
    listPathCompletions(typedPart, { cwd, home: findHomeDirectory(env) }, name =>
      pattern.test(name),
    ).map(value => ({
      value,
      isPartial: value.endsWith('/'),
    }));

const suggestFiles = createFileSource(/./u);
const suggestPromptFiles = createFileSource(/\.prompt(?:\.ya?ml)?$/u);
const suggestTestFiles = createFileSource(/\.test\.yaml$/u);

const suggestProfiles: CandidateSource = ({ ctx }) => [
  ...[...ctx.settings.profiles].map(([value, { baseUrl }]) => ({ value, description: baseUrl })),
  { value: LOCAL_PROFILE, description: 'the embedded service' },
];

const suggestAliases: CandidateSource = ({ ctx }) =>
  [...ctx.settings.aliases].map(([value, target]) => ({ value, description: target }));

/** Combines sources; one that can't be read contributes nothing. */
export const combineSources =
  (...sources: readonly CandidateSource[]): CandidateSource =>
  async request => {
    const results = await Promise.allSettled(sources.map(async source => source(request)));
    return results.flatMap(result => (result.status === 'fulfilled' ? result.value : []));
  };

/** Returns the ids of the versions of the prompt on the line; of all prompts if it is unknown. */
const suggestVersions: CandidateSource = async ({ typedCommand, facts }) => {
  const prompt = await facts.findPrompt(typedCommand.operands[0]);
  return (await facts.listPrompts())
    .filter(({ promptId }) => prompt === undefined || promptId === prompt.promptId)
    .map(({ promptVersionId, title }) => ({ value: promptVersionId, description: title }));
};

/** Returns the slugs of prompts; the ids of those whose slug is unknown. */
const suggestPromptIds: CandidateSource = request =>
  suggestPrompts(request, ({ promptId }) => promptId);

/** Returns the slugs of prompts to run; ids of versions of those whose slug is unknown. */
const suggestPromptsToRun: CandidateSource = request =>
  suggestPrompts(request, ({ promptVersionId }) => promptVersionId);

/** Aliases and prompt files don't depend on the service; prompts do. */
const suggestTargets: CandidateSource = combineSources(
  suggestAliases,
  suggestPromptFiles,
  suggestPromptsToRun,
);

/** Returns names of prompts; once `@` is typed, names with labels. */
async function suggestPrompts(
  { facts, typedPart }: Pick<SourceRequest, 'facts' | 'typedPart'>,
  getId: (prompt: KnownPrompt) => string,
): Promise<Candidate[]> {
  if (!typedPart.includes('@')) {
    return [...(await facts.listPromptTitles(getId))].map(([value, description]) => ({
      value,
      description,
    }));
  }
  return (await facts.listPrompts()).flatMap(({ slug, labels = [], title }) =>
    labels.map(label => ({ value: `${slug}@${label}`, description: title })),
  );
}

const suggestRuns: CandidateSource = async ({ ctx, facts }) =>
  (await facts.listRuns()).map(({ runId = '', runStatus = 'started', time }) => ({
    value: runId,
    description: `${runStatus}, ${formatIsoAge(time, ctx.clock.now())}`,
  }));

const suggestModels: CandidateSource = async ({ facts }) =>
  (await facts.listModels()).map(({ model, modality }) => ({
    value: model,
    description: modality,
  }));

/**
 * Returns the keys of the prompt's inputs, as `key=`. After `key=`, returns the choices of that input,
 * or files if it is an image; after `key=@`, always files.
 */
const suggestInputs: CandidateSource = async request => {
  const { typedCommand, facts, typedPart } = request;
  const [key, value] = parsePair(typedPart);
  if (key !== undefined && value.startsWith('@')) {
    const paths = await suggestFiles({ ...request, typedPart: value.slice(1) });
    return paths.map(file => ({ ...file, value: `${key}=@${file.value}` }));
  }

  const prompt = await facts.findPrompt(typedCommand.operands[0]);
  const { text, images } = readInputFields(prompt?.config);
  if (key !== undefined) {
    if (images.some(({ name }) => name === key)) {
      const paths = await suggestFiles({ ...request, typedPart: value });
      return paths.map(file => ({ ...file, value: `${key}=${file.value}` }));
    }
    const { choices = [] } = text.find(field => field.key === key) ?? {};
    return choices.map(choice => ({ value: `${key}=${choice}` }));
  }

  const namedImages = images.flatMap(({ name, description }) =>
    name === undefined ? [] : [[name, description] as const],
  );
  const keys = new Map([
    ...text.map(field => [field.key, field.description] as const),
    ...namedImages,
  ]);
  return suggestKeys(typedCommand, '--input', keys);
};

/**
 * Returns the keys of run options, as `key=`; after `key=`, the values of that option. The model is
 * the one on the line, or else the prompt's; if neither is known, the options of all models count.
 */
const suggestRunOptions: CandidateSource = async ({ typedCommand, facts, typedPart }) => {
  const model =
    typedCommand.flagValues.get('--model')?.at(-1) ??
    (await facts.findModel(typedCommand.operands[0]));
  const models = (await facts.listModels()).filter(
    entry => model === undefined || entry.model === model,
  );
  const options = models.flatMap(entry => entry.availableRunOptions);
  const [key] = parsePair(typedPart);
  if (key === undefined) {
    return suggestKeys(typedCommand, '--option', new Map(options.map(option => [option.key, ''])));
  }

  const values = options.filter(option => option.key === key).flatMap(option => option.options);
  return [...new Set(values)].map(value => ({ value: `${key}=${value}` }));
};

const suggestSettingKeys: CandidateSource = () =>
  SETTING_KEYS.map(value => ({ value, description: SETTINGS[value].description }));

const suggestSettingValues: CandidateSource = request => {
  const key = SETTING_KEYS.find(name => name === request.typedCommand.operands[0]);
  if (key === 'model' || key === 'judge') return suggestModels(request);
  return key !== undefined && typeof SETTINGS[key].default === 'boolean'
    ? [{ value: 'true' }, { value: 'false' }]
    : [];
};

/** The topics and guides of `help`, apart from guides that share their name with a command. */
const HELP_TOPICS = [
  'agents',
  'environment',
  'exit-codes',
  'flags',
  'how-sure',
  'moving',
  'prompt-files',
  'scale',
  'services',
  'tests',
];

const suggestHelpTopics: CandidateSource = ({ typedCommand: { operands }, table }) => {
  const [group] = operands;
  const path = group === undefined ? '' : findSubcommand(table, undefined, group)?.path;
  return [
    ...(path === undefined ? [] : listSubcommands(table, path)).map(command => ({
      value: getCommandName(command),
      description: command.summary,
    })),
    ...(group === undefined ? HELP_TOPICS.map(value => ({ value })) : []),
  ];
};

export const CANDIDATE_SOURCES: Readonly<
  Record<Extract<CompletionSource, string>, CandidateSource>
> = {
  aliases: suggestAliases,
  files: suggestFiles,
  helpTopics: suggestHelpTopics,
  inputs: suggestInputs,
  models: suggestModels,
  profiles: suggestProfiles,
  promptFiles: suggestPromptFiles,
  prompts: suggestPromptIds,
  runOptions: suggestRunOptions,
  runs: suggestRuns,
  settingKeys: suggestSettingKeys,
  settingValues: suggestSettingValues,
  targets: suggestTargets,
  testFiles: suggestTestFiles,
  versions: suggestVersions,
};

function parsePair(pair: string): readonly [key: string | undefined, value: string] {
  const separator = pair.indexOf('=');
  return separator < 0 ? [undefined, ''] : [pair.slice(0, separator), pair.slice(separator + 1)];
}

/**
 * Returns the keys that are not on the line yet, with their descriptions. Leaves out keys with `=`,
 * which can't be typed.
 */
function suggestKeys(
  typedCommand: TypedCommand,
  flag: string,
  keys: ReadonlyMap<string, string | undefined>,
): Candidate[] {
  const typedKeys = (typedCommand.flagValues.get(flag) ?? []).map(pair => parsePair(pair)[0]);
  return [...keys]
    .filter(([key]) => !key.includes('=') && !typedKeys.includes(key))
    .map(([key, description = '']) => ({ value: `${key}=`, description, isPartial: true }));
}
