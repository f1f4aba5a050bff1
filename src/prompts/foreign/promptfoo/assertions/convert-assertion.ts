import { FileFault } from '../../../../files/formats/file-fault.ts';
import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  withoutUndefined,
} from '../../../../files/formats/json.ts';
import { toTextOrEmpty } from '../../../../files/formats/json-fields.ts';
import { parseYaml } from '../../../../files/formats/yaml.ts';
import { findNodeOnlyName, needsNode } from '../../../../processes/node-only.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { JUDGED_NOTE } from '../../converted-prompt.ts';
import { PYTHON_COMMAND } from '../../python-command.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { isUnloadableTypeScript, NEEDS_TYPESCRIPT_LOADER } from '../files/program-files.ts';
import { PYTHON_CHECK } from '../programs/python-check.ts';
import { type Assertion, reportUnsupportedType, stripNegation } from './assertion.ts';
import {
  type AssertionConversion,
  buildFailingExpectation,
  findConversion,
  findEmptyListExpectation,
} from './assertion-conversions.ts';
import { toForbiddenSkills } from './measured-assertions.ts';
import { type CaseVariables, renderAssertionValue } from './render-assertion-value.ts';
import { findSchemaFault } from './schema-faults.ts';

/** Matches the types whose value is a JSON Schema. */
const JSON_TYPE = /^(?:is|contains)-json$/u;

/** Matches a file of TypeScript and possibly the name of a function: `file://check.ts:isPolite`. */
const TYPESCRIPT_FILE = /^file:\/\/(?<file>.*\.[cm]?ts)(?::\w+)?$/u;

/** Matches a file of JavaScript or TypeScript and possibly the name of a function. */
const SCRIPT_FILE = /^file:\/\/(?<file>.*?\.[cm]?[jt]s)(?::\w+)?$/u;

/** Matches a file of Python and possibly the name of a function: `file://check.py:is_polite`. */
const PYTHON_FILE = /^file:\/\/(?<file>.*?\.py)(?::(?<functionName>[\w.]+))?$/u;

/**
 * Returns the expectations of an assertion with its variables filled in; an empty list until
 * Nunjucks has rendered its value. Reports an assertion without an equivalent, and returns
 * undefined.
 */
export function convertAssertion(
  assertion: Assertion,
  vars: CaseVariables,
  conversion: ConversionContext,
): JsonObject[] | undefined {
  const { place, type, transform, judge } = assertion;
  const positiveType = stripNegation(type);
  if (omitUnusableCode(assertion, positiveType, conversion)) return undefined;

  const omissionsBefore = conversion.omissionCount;
  const renderedValue = renderAssertionValue(assertion, vars, conversion);
  if (conversion.isForTest && conversion.omissionCount > omissionsBefore) return undefined;
  if ('isUnknown' in renderedValue) return [];
  if ('fault' in renderedValue) return [buildFailingExpectation(renderedValue.fault)];

  const value =
    type === 'not-skill-used' ? toForbiddenSkills(renderedValue.value) : renderedValue.value;

  const renderedAssertion = { ...assertion, value };

  if (positiveType === 'python' && conversion.isForTest) {
    const command = buildPythonCommand(renderedAssertion, conversion);
    return [withoutUndefined({ command, transform })];
  }

  if (conversion.isForTest) {
    // promptfoo fails the case, even if the type begins with `not-`.
    const fault = findConversion(positiveType)?.explainInvalidValue?.(value, assertion.threshold);
    if (fault !== undefined) return [buildFailingExpectation(`the assertion \`${type}\` ${fault}`)];
  }

  const expectation = convertPositive(renderedAssertion, conversion);
  if (!expectation) return undefined;

  if (positiveType === 'llm-rubric' && judge === undefined) {
    conversion.reportHarmless(place, JUDGED_NOTE);
  }

  const positiveExpectations = splitAll(expectation);
  const expectations = type === positiveType ? positiveExpectations : negate(positiveExpectations);
  const sharedFields = withoutUndefined({ transform, judge });
  return expectations.map(expectation => ({ ...expectation, ...sharedFields }));
}

/** Reports code that can't or mustn't run here, and returns true; false for any other assertion. */
function omitUnusableCode(
  assertion: Assertion,
  positiveType: string,
  conversion: ConversionContext,
): boolean {
  if (positiveType === 'javascript') {
    const fault = findJavascriptFault(assertion, conversion);
    if (fault !== undefined) {
      conversion.reportOmission(assertion.place, `the assertion \`${assertion.type}\` ${fault}`);
      return true;
    }
  }

  if (!conversion.isForTest || !startsProgram(assertion, positiveType, conversion)) return false;
  return conversion.omitUnlessAllowed(
    assertion.place,
    `the assertion \`${assertion.type}\` runs a program`,
  );
}

/**
 * Explains why JavaScript can't run here, as a predicate; undefined if it can.
 *
 * @throws {FileFault} if its file can't be read
 */
function findJavascriptFault(
  { place, value }: Assertion,
  conversion: ConversionContext,
): string | undefined {
  const code = toTextOrEmpty(value);
  const nodeName = conversion.isForTest ? undefined : findNodeOnlyName(code);
  if (nodeName !== undefined) return `uses \`${nodeName}\`, which its engine does not have`;

  const { file } = TYPESCRIPT_FILE.exec(code)?.groups ?? {};
  if (file === undefined) return undefined;

  if (conversion.isForTest) conversion.files.read(file, place);
  return isUnloadableTypeScript(file, conversion)
    ? `is TypeScript, which ${NEEDS_TYPESCRIPT_LOADER}`
    : undefined;
}

/** Returns true if an assertion starts a program: `python`, or JavaScript that needs Node. */
function startsProgram(
  { place, value }: Assertion,
  positiveType: string,
  conversion: ConversionContext,
): boolean {
  if (positiveType === 'python') return true;
  if (positiveType !== 'javascript') return false;

  const code = toTextOrEmpty(value);
  const { file } = SCRIPT_FILE.exec(code)?.groups ?? {};
  if (file === undefined) return findNodeOnlyName(code) !== undefined;
  return file.endsWith('ts') || needsNode(conversion.files.read(file, place).text);
}

/**
 * Returns the program that checks an answer like `python`. It negates the verdict itself, because
 * errors never pass.
 */
function buildPythonCommand(
  { place, type, value, threshold, config }: Assertion,
  conversion: ConversionContext,
): string[] {
  const options = JSON.stringify({
    inverse: type.startsWith('not-'),
    threshold: typeof threshold === 'number' ? threshold : undefined,
    context: { config },
  });

  const code = toTextOrEmpty(value);
  const { file, functionName = '' } = PYTHON_FILE.exec(code)?.groups ?? {};
  if (file === undefined) {
    return [PYTHON_COMMAND, '-c', PYTHON_CHECK, 'code', code.trimEnd(), '', options];
  }

  conversion.files.read(file, place);
  return [PYTHON_COMMAND, '-c', PYTHON_CHECK, 'file', file, functionName, options];
}

/**
 * Converts an assertion as if its type had no `not-`. Reports one without an equivalent, and
 * returns undefined.
 */
function convertPositive(
  assertion: Assertion,
  conversion: ConversionContext,
): JsonObject | undefined {
  const { place, type, value, threshold, config } = assertion;
  const positiveType = stripNegation(type);
  const assertionConversion = findConversion(positiveType);
  if (!assertionConversion) {
    reportUnsupportedType(place, type, conversion);
    return undefined;
  }

  if (JSON_TYPE.test(positiveType)) {
    return convertJsonAssertion(assertion, assertionConversion, conversion);
  }

  const expectation =
    assertionConversion.convert(value, threshold) ??
    (conversion.isForTest ? findEmptyListExpectation(positiveType) : undefined);
  if (!expectation) {
    conversion.reportOmission(place, `the assertion \`${type}\` has nothing to check`);
    return undefined;
  }

  const seesConfig = positiveType === 'javascript' && config !== undefined;
  return seesConfig ? { ...expectation, config } : expectation;
}

/**
 * Converts an assertion whose value is a JSON Schema. With any other value, a written test file
 * leaves the assertion out, with a note; when the tests are run, it fails as in promptfoo.
 */
function convertJsonAssertion(
  { place, type, value, threshold }: Assertion,
  { convert }: AssertionConversion,
  conversion: ConversionContext,
): JsonObject | undefined {
  const schema = readJsonSchema(value);
  const fault = findJsonSchemaFault(schema, conversion);
  if (schema !== 'invalid' && fault === undefined) return convert(schema, threshold);

  const reason = `the assertion \`${type}\` ${fault}`;
  if (!conversion.isForTest) {
    conversion.reportOmission(place, reason);
    return undefined;
  }

  // promptfoo fails the case, unless the type is negated and the answer holds no JSON.
  const isNegated = stripNegation(type) !== type;
  return isNegated ? convert(undefined, threshold) : buildFailingExpectation(reason);
}

/** Reads a schema from a map, or from a text in YAML or JSON; undefined if there is none. */
function readJsonSchema(value: JsonValue | undefined): JsonObject | 'invalid' | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return value ? 'invalid' : undefined;

  try {
    const schema = parseYaml(value).toJson();
    if (schema === null) return undefined;
    return isJsonObject(schema) ? schema : 'invalid';
  } catch (error) {
    if (error instanceof FileFault) return 'invalid';
    throw error;
  }
}

/**
 * Explains what is wrong with a schema, as a predicate; undefined if nothing is. Its keywords are
 * checked only when the tests are run.
 */
function findJsonSchemaFault(
  schema: JsonObject | 'invalid' | undefined,
  { isForTest }: ConversionContext,
): string | undefined {
  if (schema === 'invalid') return 'has a value that is not a JSON Schema';
  return isForTest && schema ? findSchemaFault(schema) : undefined;
}

/** Returns the parts of an expectation `all`; any other expectation as it is. */
function splitAll(expectation: JsonObject): JsonObject[] {
  const parts = expectation['all'];
  return isJsonList(parts) ? (parts as JsonObject[]) : [expectation];
}

/** Returns expectations that are met if one of `expectations` isn't. */
function negate(expectations: readonly JsonObject[]): JsonObject[] {
  const opposites = expectations.map(expectation =>
    isJsonObject(expectation['not']) ? expectation['not'] : { not: expectation },
  );
  return opposites.length === 1 ? opposites : [{ any: opposites }];
}
