import type { JsonObject, JsonValue } from '../../../../files/formats/json.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { SourcePlace } from '../files/source-files.ts';
import { findConversion } from './assertion-conversions.ts';

/** A model that judges, with its config if it has one. */
export type JudgeSetting = string | JsonObject;

/** An assertion of a test, before variables are filled in. */
export interface Assertion {
  readonly place: SourcePlace;
  /** The type, such as `not-contains`. */
  readonly type: string;
  readonly value?: JsonValue | undefined;
  readonly threshold?: JsonValue | undefined;
  /** Code that transforms the answer before the check. */
  readonly transform?: string | undefined;
  /** The model that judges it. */
  readonly judge?: JudgeSetting | undefined;
  /** The value that code sees as `context.config`. */
  readonly config?: JsonValue | undefined;
}

/**
 * The types whose code is a program. When the tests are run, `python` runs if programs are allowed,
 * and `ruby` never does.
 */
const PROGRAM_TYPES = ['python', 'ruby'];

/** Matches the types whose value is code. */
export const CODE_TYPE = /^(?:not-)?(?:javascript|python)$/u;

/** Matches the types that a model judges. */
export const JUDGED_TYPE = /^(?:not-)?llm-rubric$/u;

/** Returns true if code checks the answer. */
export function isCheckedByCode({ type }: Assertion): boolean {
  return CODE_TYPE.test(type);
}

/** Returns true if a model judges the answer. */
export function isJudged({ type }: Assertion): boolean {
  return JUDGED_TYPE.test(type);
}

/** Returns a type without `not-`. */
export function stripNegation(type: string): string {
  return type.replace(/^not-/u, '');
}

/** Returns true if assertions of a type can be converted, or are programs. */
export function isSupportedType(type: string): boolean {
  const positiveType = stripNegation(type);
  return findConversion(positiveType) !== undefined || PROGRAM_TYPES.includes(positiveType);
}

/** Reports a type of assertion without an equivalent. */
export function reportUnsupportedType(
  place: SourcePlace,
  type: string,
  conversion: ConversionContext,
): void {
  const isProgram = PROGRAM_TYPES.includes(stripNegation(type));
  const alternative = isProgram ? ': use an expectation `command`' : '';
  conversion.reportOmission(place, `the assertion \`${type}\` has no equivalent${alternative}`);
}
