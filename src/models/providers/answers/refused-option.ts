import type { OptionName } from '../../model-entry.ts';
import type { ProviderFault } from './provider-fault.ts';

/** The names of options in the providers' interfaces. */
const FIELD_NAMES: Readonly<Record<OptionName, readonly string[]>> = {
  temperature: ['temperature'],
  topP: ['top_p', 'topP'],
  topK: ['top_k', 'topK'],
  seed: ['seed', 'random_seed'],
  frequencyPenalty: ['frequency_penalty', 'frequencyPenalty', 'Penalty'],
  presencePenalty: ['presence_penalty', 'presencePenalty', 'Penalty'],
  stopSequences: ['stop', 'stop_sequences', 'stopSequences'],
  reasoningEffort: [
    'reasoningEffort',
    'reasoning_effort',
    'reasoning.effort',
    'output_config.effort',
    'effort',
    'thinking_level',
    'thinkingLevel',
    'thinking_budget',
    'thinkingBudget',
    'thinkingConfig',
    'thinking_config',
    'Thinking level',
    'think value',
    'thinking',
  ],
  n: ['n', 'candidateCount', 'candidate_count'],
};

/** Matches a refusal of an option, such as "Unsupported value: 'temperature' does not support 0.2". */
const UNSUPPORTED_OPTION =
  /unsupported|not (?:\w+ )?support|n[’']t (?:\w+ )?support|no support|not (?:allowed|permitted|available|accepted|enabled)|deprecated|unknown (?:parameter|field|name|argument|option)|cannot find field|unrecogni[sz]ed|unexpected (?:keyword|field|parameter)|cannot both be|can[’']t be used|does not (?:accept|take)|only the default/i;

/** Statuses of an invalid request, which cost nothing. */
const INVALID_REQUEST_STATUSES: ReadonlySet<number | undefined> = new Set([400, 422]);

/** Returns the sent options that a refusal names as unsupported. */
export function listRefusedOptions(
  { what, details: { status, param } }: ProviderFault,
  sentOptions: ReadonlySet<OptionName>,
): readonly OptionName[] {
  if (!INVALID_REQUEST_STATUSES.has(status) || !UNSUPPORTED_OPTION.test(what)) return [];
  const options = [...sentOptions];
  const byParam = options.filter(
    option => param !== undefined && FIELD_NAMES[option].includes(param),
  );
  if (byParam.length > 0) return byParam;
  const byText = options.filter(option => FIELD_NAMES[option].some(field => isField(field, what)));
  // If two can't be used together, the first stays.
  return /cannot both be/i.test(what) ? byText.slice(1) : byText;
}

/**
 * Returns true if a text names a field. A short name, which is also an English word, needs quotes
 * or a label.
 */
function isField(field: string, text: string): boolean {
  const name = field.replace(/\./g, '\\.');
  const isWord = /^(?:n|stop|seed|effort)$/.test(field);
  const patterns = isWord
    ? [
        `[\`'"‘“]${name}[\`'"’”]`,
        `\\(body\\.${name}\\)`,
        `(?:supplied|model): ${name}(?!\\w)`,
        `(?:parameter|argument|option|field) ${name}(?!\\w)`,
      ]
    : [`(?<![\\w.])${name}(?!\\w)`, `body\\.${name}\\b`];
  return patterns.some(pattern => new RegExp(pattern).test(text));
}
