import type { OptionName } from '../../model-entry.ts';
import type { ProviderFault } from './provider-fault.ts';

/** Names by which the providers' interfaces and messages call an option. */
const MENTIONED_NAMES: Readonly<Record<OptionName, readonly string[]>> = {
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
const UNSUPPORTED_OPTION = new RegExp(
  [
    'unsupported|deprecated|only the default',
    "not (?:\\w+ )?support|n[’']t (?:\\w+ )?support|no support",
    'not (?:allowed|permitted|available|accepted|enabled)|does not (?:accept|take)',
    'unknown (?:parameter|field|name|argument|option)|unexpected (?:keyword|field|parameter)',
    'cannot find field|unrecogni[sz]ed',
    "cannot both be|can[’']t be used",
  ].join('|'),
  'i',
);

/** Statuses of an invalid request, which cost nothing. */
const INVALID_REQUEST_STATUSES: ReadonlySet<number | undefined> = new Set([400, 422]);

/** Returns the sent options that a refusal names as unsupported. */
export function listRefusedOptions(
  { message, details: { status, param } }: ProviderFault,
  sentOptions: ReadonlySet<OptionName>,
): readonly OptionName[] {
  if (!INVALID_REQUEST_STATUSES.has(status) || !UNSUPPORTED_OPTION.test(message)) return [];
  const options = [...sentOptions];
  const byParam = options.filter(
    option => param !== undefined && MENTIONED_NAMES[option].includes(param),
  );
  if (byParam.length > 0) return byParam;
  const byText = options.filter(option =>
    MENTIONED_NAMES[option].some(name => mentionsName(message, name)),
  );
  // If two can't be used together, the one that was sent first stays.
  return /cannot both be/i.test(message) ? byText.slice(1) : byText;
}

/**
 * Returns true if a message mentions a name. A short name, which a sentence may contain by chance,
 * counts only in quotes or after a label.
 */
function mentionsName(message: string, name: string): boolean {
  const pattern = name.replace(/\./g, '\\.');
  const needsQuotes = /^(?:n|stop|seed|effort)$/.test(name);
  const patterns = needsQuotes
    ? [
        `[\`'"‘“]${pattern}[\`'"’”]`,
        `\\(body\\.${pattern}\\)`,
        `(?:supplied|model): ${pattern}(?!\\w)`,
        `(?:parameter|argument|option|field) ${pattern}(?!\\w)`,
      ]
    : [`(?<![\\w.])${pattern}(?!\\w)`, `body\\.${pattern}\\b`];
  return patterns.some(source => new RegExp(source).test(message));
}
