import type { OptionName } from '../entry.ts';
import type { ProviderFault } from './refusal.ts';

/** The names of options in the interfaces of providers. */
const FIELDS: Readonly<Record<OptionName, readonly string[]>> = {
  temperature: ['temperature'],
  topP: ['top_p', 'topP'],
  topK: ['top_k', 'topK'],
  seed: ['seed', 'random_seed'],
  frequencyPenalty: ['frequency_penalty', 'frequencyPenalty', 'Penalty'],
  presencePenalty: ['presence_penalty', 'presencePenalty', 'Penalty'],
  stopSequences: ['stop', 'stop_sequences', 'stopSequences'],
  reasoningEffort: [
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

const UNSUPPORTED =
  /unsupported|not (?:\w+ )?support|n[’']t (?:\w+ )?support|no support|not (?:allowed|permitted|available|accepted)|deprecated|unknown (?:parameter|field|name|argument|option)|unrecogni[sz]ed|unexpected (?:keyword|field|parameter)|extra (?:inputs|fields)|cannot (?:both )?be (?:used|set|specified)|can[’']t be (?:used|set)|is not enabled|does not (?:accept|take)|only the default/i;

/** The options that a 400 names as unsupported, of those that were sent. */
export function refusedOptions(
  { what, more: { status, param } }: ProviderFault,
  sent: ReadonlySet<OptionName>,
): readonly OptionName[] {
  if (status !== 400 || !UNSUPPORTED.test(what)) return [];
  const byParam = [...sent].filter(option => param !== undefined && FIELDS[option].includes(param));
  if (byParam.length > 0) return byParam;
  return [...sent].filter(option => FIELDS[option].some(field => isNamed(field, what)));
}

/** Short names are also words of the language: those count only in quotes. */
function isNamed(field: string, text: string): boolean {
  const literal = field.replace(/\./g, '\\.');
  const isWord = /^(?:n|stop|seed|effort)$/.test(field);
  return new RegExp(isWord ? `[\`'"‘“]${literal}[\`'"’”]` : `(?<![\\w.])${literal}(?![\\w])`).test(text);
}
