import type { SourcePlace } from '../files/source-files.ts';
import type { Assertion } from './assertion.ts';
import { ASSERTION_CONVERSIONS } from './assertion-conversions.ts';

/** The types without an equivalent that promptfoo finds in cells, without `not-`. */
const UNCONVERTED_TYPES = [
  'agent-rubric answer-relevance classifier contains-sql contains-xml context-faithfulness context-recall',
  'context-relevance conversation-relevance factuality finish-reason g-eval guardrails is-html is-sql',
  'is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml meteor',
  'model-graded-closedqa model-graded-factuality moderation perplexity perplexity-score pi python rouge-n ruby',
  'search-rubric similar similar:cosine similar:dot similar:euclidean trace-error-spans trace-span-count',
  'trace-span-duration trajectory:goal-success trajectory:step-count trajectory:tool-args-match',
  'trajectory:tool-sequence trajectory:tool-used webhook',
].join(' ');

const CELL_TYPES = [...Object.keys(ASSERTION_CONVERSIONS), ...UNCONVERTED_TYPES.split(' ')];

/** Matches a cell such as `contains: yes` or `not-similar(0.8): yes`. */
const CELL = new RegExp(
  `^(?<type>(?:not-)?(?:${CELL_TYPES.join('|')}))(?:\\((?<threshold>\\d+(?:\\.\\d+)?)\\))?(?::(?<value>[^]*))?$`,
  'u',
);

/** Matches code or a rubric with its kind: `fn: output.length > 3`, `grade: is polite`. */
const CODE_CELL = /^(?<prefix>javascript|fn|eval|grade|python):(?<code>[^]*)$/u;

/** Matches the types whose threshold promptfoo reads from a cell. */
const TYPE_WITH_THRESHOLD =
  /^(?:not-)?(?:answer-relevance|classifier|context-\w+|cost|latency|levenshtein|perplexity(?:-score)?|rouge-n|similar|starts-with)$/u;

/** The threshold of a cell that names none. */
const DEFAULT_THRESHOLD = 0.75;

/**
 * Reads a cell of a column `__expected` as promptfoo does: a type with its value, or else the text
 * that the answer must equal.
 */
export function readAssertionCell(cell: string, place: SourcePlace): Assertion {
  const assertionText = cell.trim();
  const file = assertionText.startsWith('file://') ? assertionText.slice('file://'.length) : '';
  if (/\.[cm]?[jt]s$/u.test(file)) return { place, type: 'javascript', value: assertionText };
  if (/\.py(?::|$)/u.test(file)) return { place, type: 'python', value: file };

  const { prefix = '', code = '' } = CODE_CELL.exec(assertionText)?.groups ?? {};
  if (prefix === 'grade') return { place, type: 'llm-rubric', value: code };

  if (prefix !== '') {
    return { place, type: prefix === 'python' ? prefix : 'javascript', value: code.trim() };
  }

  const { type, threshold, value } = CELL.exec(assertionText)?.groups ?? {};
  if (type === undefined) return { place, type: 'equals', value: assertionText };

  const text = /^(?:not-)?(?:is|contains)-json$/u.test(type) ? value : value?.trim();
  if (!TYPE_WITH_THRESHOLD.test(type)) return { place, type, value: text };

  return {
    place,
    type,
    value: text,
    threshold: threshold === undefined ? DEFAULT_THRESHOLD : Number(threshold),
  };
}
