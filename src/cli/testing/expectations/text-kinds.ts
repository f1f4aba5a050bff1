import { getErrorMessage } from '../../../utils/error-utils.ts';
import { readInputText, requireScalar, requireText, testFileError } from '../cases/test-values.ts';
import {
  createExpectationKind,
  type ExpectationKind,
  quoteExcerpt,
  SCALAR_SCHEMA,
  TEXT_SCHEMA,
} from './expectation-kind.ts';

type TextPredicate = (text: string, expected: string) => boolean;

/** The text that a whole answer must be. */
interface WholeText {
  readonly text: string;
  /** True if a line break at the end counts too, as in promptfoo. */
  readonly isExact?: boolean | undefined;
}

const endsWith: TextPredicate = (text, expected) =>
  text.endsWith(expected) || withoutLastBreak(text).endsWith(expected);

const startsWith: TextPredicate = (text, expected) => text.startsWith(expected);
const contains: TextPredicate = (text, expected) => text.includes(expected);

/** Expectations of an answer as text. */
export const TEXT_KINDS = {
  contains: createTextKind('a text that must be in the answer', 'does not contain', contains),
  icontains: createTextKind(
    'a text that must be in the answer, ignoring case',
    'does not contain',
    ignoreCase(contains),
  ),
  startsWith: createTextKind(
    'a text that must begin the answer',
    'does not begin with',
    startsWith,
  ),
  istartsWith: createTextKind(
    'a text that must begin the answer, ignoring case',
    'does not begin with',
    ignoreCase(startsWith),
  ),
  endsWith: createTextKind('a text that must end the answer', 'does not end with', endsWith),
  iendsWith: createTextKind(
    'a text that must end the answer, ignoring case',
    'does not end with',
    ignoreCase(endsWith),
  ),
  equals: createExpectationKind<WholeText>({
    schema: { ...SCALAR_SCHEMA, description: 'the whole answer' },
    read: (value, { key, isAsPromptfoo }) => ({
      text: readInputText(value, key),
      isExact: isAsPromptfoo,
    }),
    formatText: ({ text }) => quoteExcerpt(text),
    // Files and YAML blocks end in a line break that the author did not mean.
    findMismatch: ({ text: expected, isExact }, { text }) =>
      (isExact ? text === expected : withoutLastBreak(text) === withoutLastBreak(expected))
        ? undefined
        : { message: 'is not equal', expected, actual: text },
  }),
  matches: createExpectationKind<RegExp>({
    schema: { ...TEXT_SCHEMA, description: 'a regular expression that must match the answer' },
    read: (value, { key, isAsPromptfoo = false }) => {
      const pattern = requireText(value, key);
      try {
        // oxlint-disable-next-line require-unicode-regexp -- promptfoo compiles patterns without the flag
        return isAsPromptfoo ? new RegExp(pattern) : compilePattern(pattern);
      } catch (error) {
        throw testFileError(value, `${key}: ${getErrorMessage(error)}`);
      }
    },
    formatText: ({ source }) => `/${source}/`,
    findMismatch: async ({ source, flags }, { text, checks }) =>
      (await checks.perform('matches', source, flags, text))
        ? undefined
        : { message: `does not match /${source}/`, actual: text },
  }),
} as const;

function createTextKind(
  description: string,
  mismatchVerb: string,
  isMet: TextPredicate,
): ExpectationKind<string> {
  return createExpectationKind({
    schema: { ...SCALAR_SCHEMA, description },
    read: (value, { key }) => requireScalar(value, key),
    findMismatch: (expected, { text }) =>
      isMet(text, expected)
        ? undefined
        : { message: `${mismatchVerb} ${quoteExcerpt(expected)}`, actual: text },
  });
}

function ignoreCase(isMet: TextPredicate): TextPredicate {
  return (text, expected) => isMet(text.toLowerCase(), expected.toLowerCase());
}

function withoutLastBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Compiles a pattern with the flag u, or without it if it is only valid without. */
function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    // oxlint-disable-next-line require-unicode-regexp -- valid without the flag only
    return new RegExp(pattern);
  }
}
