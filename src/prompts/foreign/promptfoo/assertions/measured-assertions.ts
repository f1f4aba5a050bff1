import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import {
  BLEU_CHECK,
  GLEU_CHECK,
  HTML_CHECK,
  LEVENSHTEIN_CHECK,
  REFUSAL_CHECK,
  SKILL_CHECK,
  TOOL_CALL_CHECK,
  WORD_COUNT_CHECK,
} from '../programs/measuring-code.ts';

/** A type of assertion that our own code measures, as promptfoo does. */
interface Measure {
  /** The body of the function that checks an answer. */
  readonly code: string;
  /** The default threshold of a type that has one. */
  readonly threshold?: number;
  /**
   * Explains why promptfoo fails every case with this value, such as `needs a text`; undefined if
   * it doesn't.
   */
  readonly explainInvalidValue?: (value: JsonValue | undefined) => string | undefined;
}

/** The measures by the type of the assertion, without `not-`. */
const ASSERTION_MEASURES: { readonly [type: string]: Measure } = {
  'is-refusal': {
    code: REFUSAL_CHECK,
  },
  'contains-html': {
    code: HTML_CHECK,
  },
  'skill-used': {
    code: SKILL_CHECK,
    explainInvalidValue: explainInvalidSkills,
  },
  'tool-call-f1': {
    code: TOOL_CALL_CHECK,
    threshold: 1,
    explainInvalidValue: value =>
      typeof value === 'string' || (isJsonList(value) && value.length > 0)
        ? undefined
        : 'needs names of tools',
  },
  'word-count': {
    code: WORD_COUNT_CHECK,
    explainInvalidValue: explainInvalidCount,
  },
  levenshtein: {
    code: LEVENSHTEIN_CHECK,
    threshold: 5,
    explainInvalidValue: value => (typeof value === 'string' ? undefined : 'needs a text'),
  },
  bleu: {
    code: BLEU_CHECK,
    threshold: 0.5,
    explainInvalidValue: explainInvalidReferences,
  },
  gleu: {
    code: GLEU_CHECK,
    threshold: 0.5,
    explainInvalidValue: explainInvalidReferences,
  },
};

/** The types of assertions that our own code measures, without `not-`. */
export const MEASURED_TYPES = Object.keys(ASSERTION_MEASURES);

/**
 * Returns the expectation for an assertion that our own code measures; undefined if it fails every
 * case.
 */
export function buildMeasuredExpectation(
  type: string,
  value: JsonValue | undefined,
  threshold: JsonValue | undefined,
): JsonObject | undefined {
  const measure = ASSERTION_MEASURES[type];
  if (!measure || explainInvalidValue(type, value) !== undefined) return undefined;
  const effectiveThreshold = typeof threshold === 'number' ? threshold : measure.threshold;

  return {
    javascript: `const text = typeof output === 'string' ? output : JSON.stringify(output);
const value = ${JSON.stringify(value ?? null)};
const threshold = ${effectiveThreshold ?? 'null'};
const { pass, finding } = (() => {
${measure.code}
})();
return { pass, score: pass ? 1 : 0, reason: 'the answer has ' + finding };`,
  };
}

/**
 * Explains why promptfoo fails every case with an assertion that our own code measures; undefined
 * if it doesn't.
 */
export function explainInvalidValue(
  type: string,
  value: JsonValue | undefined,
): string | undefined {
  return ASSERTION_MEASURES[type]?.explainInvalidValue?.(value);
}

function explainInvalidReferences(value: JsonValue | undefined): string | undefined {
  const isList =
    isJsonList(value) && value.length > 0 && value.every(item => typeof item === 'string');
  return isList || typeof value === 'string' ? undefined : 'needs a text, or a list of texts';
}

/**
 * Converts the value of `not-skill-used` to one of `skill-used` that holds for the forbidden
 * answers:
 * - `['a', 'b']` forbids each skill, so `{ any: ['a', 'b'] }`
 * - `{ name: 'a' }` and `{ name: 'a', max: 0 }` forbid any use, so `{ name: 'a' }`
 * - with other counts promptfoo fails every case, so null, which is invalid
 */
export function toForbiddenSkills(value: JsonValue | undefined): JsonValue | undefined {
  if (isJsonList(value)) return value.length > 0 && value.every(isName) ? { any: value } : value;
  if (!isJsonObject(value)) return value;
  const { min, max, ...skill } = value;
  const isAnyUseForbidden = min === undefined && (max === undefined || max === 0);
  return isAnyUseForbidden ? skill : null;
}

function explainInvalidSkills(value: JsonValue | undefined): string | undefined {
  const isList = isJsonList(value) && value.length > 0 && value.every(isName);
  return isName(value) || isList || isSkillCount(value)
    ? undefined
    : 'needs a skill, a list of skills, or a `name` or `pattern` with whole numbers as `min` and `max`';
}

function isSkillCount(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const { name, pattern, any, min, max } = value;
  const areCounts = [min, max].every(
    count => count === undefined || (Number.isInteger(count) && Number(count) >= 0),
  );

  const names = [name, pattern].filter(item => item !== undefined);
  // Only `toForbiddenSkills` writes `any`.
  const areTexts = names.every(item => typeof item === 'string');
  const areSkills =
    any === undefined ? areTexts && names.some(isName) : isJsonList(any) && any.every(isName);
  const isEmptyRange = Number(min) > Number(max);
  return areSkills && areCounts && !isEmptyRange;
}

function isName(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function explainInvalidCount(value: JsonValue | undefined): string | undefined {
  if (isJsonObject(value)) {
    const { min, max } = value;
    if (min === undefined && max === undefined) return 'needs `min` or `max`';
    return min !== undefined && max !== undefined && Number(min) > Number(max)
      ? 'has a `min` above its `max`'
      : undefined;
  }
  const isNumber =
    typeof value === 'number' || (typeof value === 'string' && !Number.isNaN(Number(value)));
  return isNumber ? undefined : 'needs a number, or `min` and `max`';
}
