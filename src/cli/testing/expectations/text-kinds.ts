import { errorMessage } from '../../../utils/error-utils.ts';
import { faultIn, inputTextIn, textIn, wordIn } from '../cases/test-values.ts';
import {
  type ExpectationKind,
  expectationKind,
  quotedExcerpt,
  SCALAR_SCHEMA,
  TEXT_SCHEMA,
} from './expectation-kind.ts';

type MeetsText = (text: string, expected: string) => boolean;

interface WholeText {
  readonly text: string;
  /** True if a line break at the end counts too, as in promptfoo. */
  readonly isExact?: boolean | undefined;
}

const endsWith: MeetsText = (text, expected) =>
  text.endsWith(expected) || withoutLastBreak(text).endsWith(expected);
const startsWith: MeetsText = (text, expected) => text.startsWith(expected);
const contains: MeetsText = (text, expected) => text.includes(expected);

/** Expectations of an answer as text. */
export const TEXT_KINDS = {
  contains: textKind('a text that must be in the answer', 'does not contain', contains),
  icontains: textKind(
    'a text that must be in the answer, ignoring case',
    'does not contain',
    ignoringCase(contains),
  ),
  startsWith: textKind('a text that must begin the answer', 'does not begin with', startsWith),
  istartsWith: textKind(
    'a text that must begin the answer, ignoring case',
    'does not begin with',
    ignoringCase(startsWith),
  ),
  endsWith: textKind('a text that must end the answer', 'does not end with', endsWith),
  iendsWith: textKind(
    'a text that must end the answer, ignoring case',
    'does not end with',
    ignoringCase(endsWith),
  ),
  equals: expectationKind<WholeText>({
    schema: { ...SCALAR_SCHEMA, description: 'the whole answer' },
    read: (value, { key, isAsPromptfoo }) => ({ text: inputTextIn(value, key), isExact: isAsPromptfoo }),
    text: ({ text }) => quotedExcerpt(text),
    // Files and YAML blocks end in a line break that the author did not mean.
    unmet: ({ text: expected, isExact }, { text }) =>
      (isExact ? text === expected : withoutLastBreak(text) === withoutLastBreak(expected))
        ? undefined
        : { message: 'is not equal', expected, actual: text },
  }),
  matches: expectationKind<RegExp>({
    schema: { ...TEXT_SCHEMA, description: 'a regular expression that must match the answer' },
    read: (value, { isAsPromptfoo = false }) => {
      const pattern = textIn(value, 'matches');
      try {
        // oxlint-disable-next-line require-unicode-regexp -- promptfoo compiles patterns without the flag
        return isAsPromptfoo ? new RegExp(pattern) : regularExpression(pattern);
      } catch (error) {
        throw faultIn(value, `matches: ${errorMessage(error)}`);
      }
    },
    text: ({ source }) => `/${source}/`,
    unmet: async ({ source, flags }, { text, checks }) =>
      (await checks.perform('matches', source, flags, text))
        ? undefined
        : { message: `does not match /${source}/`, actual: text },
  }),
} as const;

function textKind(description: string, fault: string, meets: MeetsText): ExpectationKind<string> {
  return expectationKind({
    schema: { ...SCALAR_SCHEMA, description },
    read: (value, { key }) => wordIn(value, key),
    unmet: (expected, { text }) =>
      meets(text, expected) ? undefined : { message: `${fault} ${quotedExcerpt(expected)}`, actual: text },
  });
}

function ignoringCase(meets: MeetsText): MeetsText {
  return (text, expected) => meets(text.toLowerCase(), expected.toLowerCase());
}

function withoutLastBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Compiles a pattern with the flag u, or without it if the pattern is valid only so. */
function regularExpression(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    // oxlint-disable-next-line require-unicode-regexp -- valid without the flag only
    return new RegExp(pattern);
  }
}
