import type { YamlValue } from '../../../../../files/formats/yaml.ts';
import { PYTHON_COMMAND } from '../../../python-command.ts';
import type { ConversionContext } from '../../conversion-context.ts';
import { readMergedValues } from '../../files/merged-values.ts';
import {
  isUnloadableTypeScript,
  NEEDS_TYPESCRIPT_LOADER,
  splitCommandLine,
} from '../../files/program-files.ts';
import {
  KEPT_NODE_PROVIDER,
  KEPT_PYTHON_PROVIDER,
  NODE_CLAUDE_AGENT,
  NODE_EXEC,
  NODE_PROVIDER,
  PYTHON_PROVIDER,
} from '../../programs/provider-programs.ts';
import type { EntryFields, WrittenProvider } from '../promptfoo-provider.ts';
import { readClaudeAgentCall } from './claude-agent.ts';
import { ENVIRONMENT_TAG, escapePlaceholders } from './entry-placeholders.ts';

/** Stands among the words of a program for the folder of the models file. */
const FOLDER_MARK = '\0here';

/** Stands among the words of a program for the messages of a run. */
const MESSAGES_MARK = '\0messages';

/**
 * Matches a use of the environment, which could show a key in the list of processes if it were
 * filled in here.
 */
const ENVIRONMENT_USE = /\{\{[^{}]*\benv[.[]/u;

/** Returns the fields of the entry for a command line (`exec:`). */
export function readExecFields(
  { id, config, place }: WrittenProvider,
  conversion: ConversionContext,
): EntryFields | undefined {
  const words = splitCommandLine(id.slice('exec:'.length));
  if (words.length === 0) {
    conversion.reportOmission(place, `the provider \`${id}\` names no program`);
    return undefined;
  }

  const options = encodeProviderOptions(config);
  if (ENVIRONMENT_USE.test(options)) {
    conversion.reportOmission(
      place,
      `the provider \`${id}\` has no equivalent: its config names environment variables`,
    );
    return undefined;
  }

  const program = buildProgramWords(
    'node',
    '-e',
    NODE_EXEC,
    FOLDER_MARK,
    JSON.stringify(words),
    options,
    JSON.stringify(conversion.variableNames.json),
    MESSAGES_MARK,
  );
  return { fields: { program } };
}

/**
 * Returns the fields of the entry for a file of JavaScript, TypeScript or Python that exports a
 * provider.
 */
export function readFileFields(
  provider: WrittenProvider,
  { file, name }: { readonly file: string; readonly name: string },
  conversion: ConversionContext,
): EntryFields | undefined {
  const { id, config, place, isJudge = false } = provider;
  if (omitUnusableFile(provider, file, conversion)) return undefined;

  if (!conversion.runsPrograms && /\.[cm]?ts$/u.test(file)) {
    conversion.reportHarmless(
      place,
      `the provider \`${id}\` is TypeScript: its entry needs tsx or jiti in the project, or Node 22.18`,
    );
  }

  const settings = encodeProviderOptions(config);

  // The program itself fills in variables that are named plainly.
  if (ENVIRONMENT_USE.test(settings.replace(ENVIRONMENT_TAG, ''))) {
    conversion.reportOmission(
      place,
      `the provider \`${id}\` has no equivalent: its config uses the environment in other ways`,
    );
    return undefined;
  }

  const exportName = name === '' && file.endsWith('.py') ? 'call_api' : name;
  const args = [
    FOLDER_MARK,
    file,
    exportName,
    settings,
    JSON.stringify(conversion.variableNames.json),
  ];
  const words = conversion.runsPrograms
    ? [...buildKeptProgram(file), ...args]
    : [...buildOneRunProgram(file), ...args, MESSAGES_MARK];
  return buildResultFields(words, { givesResults: conversion.runsPrograms && !isJudge });
}

/**
 * Reports a file that doesn't exist or can't be loaded; returns true if the provider is left out.
 */
function omitUnusableFile(
  { id, place }: WrittenProvider,
  file: string,
  conversion: ConversionContext,
): boolean {
  if (!conversion.files.hasFile(file)) {
    conversion.reportOmission(place, `the file of the provider \`${id}\` doesn't exist`);
    return true;
  }

  conversion.files.read(file, place);
  if (!isUnloadableTypeScript(file, conversion)) return false;

  conversion.reportOmission(
    place,
    `the provider \`${id}\` is TypeScript, which ${NEEDS_TYPESCRIPT_LOADER}`,
  );
  return true;
}

/** Returns the beginning of a command line whose program stays and answers run after run. */
function buildKeptProgram(file: string): string[] {
  return file.endsWith('.py')
    ? [PYTHON_COMMAND, '-c', KEPT_PYTHON_PROVIDER]
    : ['node', '-e', KEPT_NODE_PROVIDER];
}

/** Returns the beginning of a command line whose program answers one run. */
function buildOneRunProgram(file: string): string[] {
  return file.endsWith('.py')
    ? [PYTHON_COMMAND, '-c', PYTHON_PROVIDER]
    : ['node', '-e', NODE_PROVIDER];
}

/** Returns the fields of an entry whose program asks Claude by its Agent SDK. */
export function readAgentFields(
  { config, isJudge = false }: WrittenProvider,
  conversion: ConversionContext,
): EntryFields | undefined {
  const call = readClaudeAgentCall(
    config ? readMergedValues(config, 'config') : new Map(),
    conversion,
  );
  if (call === undefined) return undefined;
  const words = [
    'node',
    '-e',
    NODE_CLAUDE_AGENT,
    FOLDER_MARK,
    JSON.stringify(call),
    '[]',
    MESSAGES_MARK,
  ];
  return buildResultFields(words, { givesResults: conversion.runsPrograms && !isJudge });
}

/** Returns the fields of an entry whose program prints the result of a provider. */
function buildResultFields(
  words: readonly string[],
  { givesResults }: { readonly givesResults: boolean },
): EntryFields {
  return {
    givesResults,
    fields: {
      program: buildProgramWords(...words),
      ...(!givesResults && { output: 'output' }),
      cost: 'cost',
      tokens: { input: 'tokenUsage.prompt', output: 'tokenUsage.completion' },
    },
  };
}

function encodeProviderOptions(config: YamlValue | undefined): string {
  return JSON.stringify({ config: config?.toJson() ?? {} });
}

function buildProgramWords(...words: readonly string[]): string[] {
  const placeholders = new Map([
    [FOLDER_MARK, '${here}'],
    [MESSAGES_MARK, '${messages}'],
  ]);
  return words.map(word => placeholders.get(word) ?? escapePlaceholders(word));
}
