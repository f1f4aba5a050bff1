import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { withoutUndefined } from '../../../files/formats/json.ts';
import { toTextOrJson } from '../../../files/formats/json-fields.ts';
import {
  type ModelEntry,
  NUMBER_SETTINGS,
  OPTION_NAMES,
  type OptionName,
} from '../../model-entry.ts';
import { findProviderMaximum, listOmittedOptions, toModelTarget } from './unsupported-options.ts';

/** The options of a run, sorted by who handles them. */
export interface SortedOptions {
  /** Options that some models don't take. */
  readonly standardOptions: ReadonlyMap<OptionName, unknown>;
  readonly maxOutputTokens: number | undefined;
  /** All other options, passed on unchanged. */
  readonly otherOptions: Readonly<Record<string, unknown>>;
  readonly notes: readonly OptionNote[];
}

/** A note on an option that was left out or changed, in one sentence. */
export interface OptionNote {
  readonly option: OptionName;
  readonly note: string;
}

/** Sorts the options of a run, and leaves out those that the model does not take. */
export function sortOptions(
  settings: Readonly<Record<string, unknown>>,
  model: ModelEntry,
  refusedOptions: ReadonlySet<OptionName>,
): SortedOptions {
  const offeredSettings = Object.entries(settings).filter(
    ([key]) => !(isOptionName(key) && refusedOptions.has(key)),
  );
  const omittedOptions = new Set([
    ...listOmittedOptions(model, Object.fromEntries(offeredSettings)),
    ...refusedOptions,
  ]);
  const standardOptions = new Map<OptionName, unknown>();
  const otherOptions: Record<string, unknown> = {};

  const notes: OptionNote[] = [];
  let maxOutputTokens: number | undefined;
  for (const [key, value] of Object.entries(settings)) {
    if (value === null || value === undefined || value === '') continue;
    if (key === 'maxOutputTokens') {
      maxOutputTokens = Number(value);
    } else if (!isOptionName(key)) {
      otherOptions[key] = value;
    } else if (omittedOptions.has(key)) {
      notes.push({ option: key, note: describeOmission(model, key) });
    } else {
      const { sentValue, note } = limitToMaximum(model, key, convertOption(key, value));
      standardOptions.set(key, sentValue);
      if (note !== undefined) notes.push({ option: key, note });
    }
  }

  // Every model gives one answer by default.
  if (standardOptions.get('n') === 1) standardOptions.delete('n');
  return {
    standardOptions,
    maxOutputTokens,
    otherOptions,
    notes,
  };
}

function isOptionName(key: string): key is OptionName {
  return OPTION_NAMES.some(name => name === key);
}

/**
 * Returns an option in its type: those of a run arrive as text, those of a prompt have their type
 * already.
 */
function convertOption(key: OptionName, value: unknown): unknown {
  if (key === 'stopSequences') return Array.isArray(value) ? value.map(String) : [String(value)];
  if (!NUMBER_SETTINGS.has(key) && key !== 'n') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/** Returns an option, lowered to the provider's maximum, with a note if it is lowered. */
function limitToMaximum(
  model: ModelEntry,
  key: OptionName,
  value: unknown,
): { readonly sentValue: unknown; readonly note?: string } {
  const target = toModelTarget(model);
  const maximum = target && findProviderMaximum(target, key);
  if (maximum === undefined || typeof value !== 'number' || value <= maximum) {
    return { sentValue: value };
  }
  return { sentValue: maximum, note: describeMaximum(model, key, maximum) };
}

export function describeOmission({ model, id = model }: ModelEntry, option: string): string {
  return `${id} does not take ${option}: left out`;
}

function describeMaximum(
  { model, id = model }: ModelEntry,
  option: string,
  maximum: number,
): string {
  return `${id} takes a ${option} of at most ${maximum}: ${maximum} is sent`;
}

type CallOptions = Pick<
  LanguageModelV4CallOptions,
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'frequencyPenalty'
  | 'presencePenalty'
  | 'stopSequences'
  | 'maxOutputTokens'
>;

/** Returns the options in the clients' format. */
export function toCallOptions({ standardOptions, maxOutputTokens }: SortedOptions): CallOptions {
  const getNumber = (key: OptionName): number | undefined => {
    const value = standardOptions.get(key);
    return typeof value === 'number' ? value : undefined;
  };
  const stopSequences = standardOptions.get('stopSequences');
  return withoutUndefined({
    temperature: getNumber('temperature'),
    topP: getNumber('topP'),
    topK: getNumber('topK'),
    seed: getNumber('seed'),
    frequencyPenalty: getNumber('frequencyPenalty'),
    presencePenalty: getNumber('presencePenalty'),
    stopSequences: Array.isArray(stopSequences) ? stopSequences.map(String) : undefined,
    maxOutputTokens,
  });
}

/** Returns notes on the options that a client left out of a request or changed. */
export function collectClientNotes(
  warnings: readonly SharedV4Warning[],
  model: ModelEntry,
  { standardOptions }: SortedOptions,
): { notes: string[]; omittedOptions: ReadonlySet<OptionName> } {
  const notes: string[] = [];
  const omittedOptions = new Set<OptionName>();
  const effort = standardOptions.get('reasoningEffort');
  for (const warning of warnings) {
    if (
      warning.type === 'compatibility' &&
      warning.feature.startsWith('reasoning') &&
      effort !== undefined
    ) {
      notes.push(
        `${model.id ?? model.model} does not take reasoningEffort ${toTextOrJson(effort)}: the nearest is sent`,
      );
    }

    const unsupported = findUnsupportedOption(warning);
    if (unsupported === undefined) continue;

    const { option, maximum } = unsupported;
    if (maximum !== undefined) {
      notes.push(describeMaximum(model, option, maximum));
    } else if (isOptionName(option) && standardOptions.has(option) && !omittedOptions.has(option)) {
      omittedOptions.add(option);
      notes.push(describeOmission(model, option));
    }
  }

  return { notes, omittedOptions };
}

/**
 * Returns the option that a client did not send, or sent with its maximum; undefined for any other
 * warning.
 */
function findUnsupportedOption(
  warning: SharedV4Warning,
): { readonly option: string; readonly maximum: number | undefined } | undefined {
  if (warning.type === 'deprecated') {
    return { option: toOptionName(warning.setting), maximum: undefined };
  }

  if (warning.type !== 'unsupported') return undefined;

  // Such as "temperature must be … and was clamped to 1" or "max tokens are limited to 4096".
  const [, maximum] = /(?:clamped|limited) to (\d+(?:\.\d+)?)/.exec(warning.details ?? '') ?? [];

  return {
    option: toOptionName(warning.feature),
    maximum: maximum === undefined ? undefined : Number(maximum),
  };
}

/** Returns the name in prompt files of a feature that a client names. */
function toOptionName(feature: string): string {
  return feature === 'reasoning' ? 'reasoningEffort' : feature;
}
