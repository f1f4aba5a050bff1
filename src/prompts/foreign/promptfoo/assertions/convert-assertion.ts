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
import { PYTHON } from '../../python.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { isUnreadable, NEEDS_TYPES } from '../files/program-files.ts';
import { PYTHON_CHECK } from '../programs/python-check.ts';
import { type Assertion, reportUnsupportedType, stripNegation } from './assertion.ts';
import {
  buildFailingExpectation,
  CONVERSIONS,
  type ConvertValue,
  findAssertionFault,
  findEmptyListExpectation,
} from './assertion-conversions.ts';
import { invertSkills } from './measured-assertions.ts';
import { type CaseVariables, renderAssertionValue } from './render-assertion-value.ts';
import { findSchemaFault } from './schema-faults.ts';

const JSON_TYPE = /^(?:is|contains)-json$/u;

/**
 * Returns the expectations of an assertion, with variables filled in; undefined with a note if it
 * has no equivalent. It has none as long as Nunjucks has not rendered its value.
 */
export function convertAssertion(
  assertion: Assertion,
  vars: CaseVariables,
  conversion: ConversionContext,
): JsonObject[] | undefined {
  const { at, type, transform, judge } = assertion;
  const positiveName = stripNegation(type);
  if (reportUnusableCode(assertion, positiveName, conversion)) return undefined;

  const omissionsBefore = conversion.omissionCount;
  const renderedValue = renderAssertionValue(assertion, vars, conversion);
  if (conversion.isForTest && conversion.omissionCount > omissionsBefore) return undefined;
  if ('isUnknown' in renderedValue) return [];
  if ('fault' in renderedValue) return [buildFailingExpectation(renderedValue.fault)];

  const value = type === 'not-skill-used' ? invertSkills(renderedValue.value) : renderedValue.value;

  if (positiveName === 'python' && conversion.isForTest) {
    const command = buildPythonCommand({ ...assertion, value }, conversion);
    return [withoutUndefined({ command, transform })];
  }

  if (conversion.isForTest) {
    // promptfoo fails the case, even if the type begins with `not-`.
    const fault = findAssertionFault(positiveName, value, assertion.threshold);
    if (fault !== undefined) return [buildFailingExpectation(`the assertion \`${type}\` ${fault}`)];
  }

  const expectation = convertPositive(assertion, positiveName, value, conversion);
  if (!expectation) return undefined;

  if (positiveName === 'llm-rubric' && judge === undefined) {
    conversion.reportHarmless(at, JUDGED_NOTE);
  }

  const positiveExpectations = splitAll(expectation);
  const expectations = type === positiveName ? positiveExpectations : negate(positiveExpectations);
  const sharedFields = withoutUndefined({ transform, judge });
  return expectations.map(expectation => ({ ...expectation, ...sharedFields }));
}

/**
 * Reports code that can't or mustn't run here; returns true if the assertion is left out because of
 * it.
 */
function reportUnusableCode(
  assertion: Assertion,
  positiveName: string,
  conversion: ConversionContext,
): boolean {
  if (positiveName === 'javascript') {
    const fault = findJavascriptFault(assertion, conversion);
    if (fault !== undefined) {
      conversion.reportOmission(assertion.at, `the assertion \`${assertion.type}\` ${fault}`);
      return true;
    }
  }

  if (!conversion.isForTest || !startsProgram(assertion, positiveName, conversion)) return false;
  return conversion.omitUnlessAllowed(
    assertion.at,
    `the assertion \`${assertion.type}\` runs a program`,
  );
}

/**
 * Explains why JavaScript can't run here, as a predicate; undefined if it can.
 *
 * @throws {FileFault} if its file can't be read
 */
function findJavascriptFault(
  { at, value }: Assertion,
  conversion: ConversionContext,
): string | undefined {
  const code = toTextOrEmpty(value);
  const nodeName = conversion.isForTest ? undefined : findNodeOnlyName(code);
  if (nodeName !== undefined) return `uses \`${nodeName}\`, which its engine does not have`;

  const [, typeScriptFile] = /^file:\/\/(.*\.[cm]?ts)(?::\w+)?$/u.exec(code) ?? [];
  if (typeScriptFile === undefined) return undefined;

  if (conversion.isForTest) conversion.files.read(typeScriptFile, at);
  return isUnreadable(typeScriptFile, conversion)
    ? `is TypeScript, which ${NEEDS_TYPES}`
    : undefined;
}

/** Returns true if an assertion starts a program: `python`, or JavaScript that needs Node. */
function startsProgram(
  { at, value }: Assertion,
  type: string,
  conversion: ConversionContext,
): boolean {
  if (type === 'python') return true;
  if (type !== 'javascript') return false;

  const code = toTextOrEmpty(value);
  const [, file] = /^file:\/\/(.*?\.[cm]?[jt]s)(?::\w+)?$/u.exec(code) ?? [];
  if (file === undefined) return findNodeOnlyName(code) !== undefined;
  return file.endsWith('ts') || needsNode(conversion.files.read(file, at).text);
}

/**
 * Returns the program that checks an answer like `python`. It negates the verdict itself, because
 * errors never pass.
 */
function buildPythonCommand(
  { at, type, value, threshold, config }: Assertion,
  conversion: ConversionContext,
): string[] {
  const options = JSON.stringify({
    inverse: type.startsWith('not-'),
    threshold: typeof threshold === 'number' ? threshold : undefined,
    context: { config },
  });

  const code = toTextOrEmpty(value);
  const [, file, name = ''] = /^file:\/\/(.*?\.py)(?::([\w.]+))?$/u.exec(code) ?? [];
  if (file === undefined) {
    return [PYTHON, '-c', PYTHON_CHECK, 'code', code.trimEnd(), '', options];
  }

  conversion.files.read(file, at);
  return [PYTHON, '-c', PYTHON_CHECK, 'file', file, name, options];
}

/**
 * Converts an assertion as if its type had no `not-`; undefined with a note if it has no
 * equivalent.
 */
function convertPositive(
  assertion: Assertion,
  positiveName: string,
  value: JsonValue | undefined,
  conversion: ConversionContext,
): JsonObject | undefined {
  const { at, type, threshold, config } = assertion;
  const convert = Object.hasOwn(CONVERSIONS, positiveName) ? CONVERSIONS[positiveName] : undefined;
  if (!convert) {
    reportUnsupportedType(at, type, conversion);
    return undefined;
  }

  if (JSON_TYPE.test(positiveName)) {
    const isNegated = type !== positiveName;
    return convertJsonAssertion({ ...assertion, value }, isNegated, convert, conversion);
  }

  const expectation =
    convert(value, threshold) ??
    (conversion.isForTest ? findEmptyListExpectation(positiveName) : undefined);
  if (!expectation) {
    conversion.reportOmission(at, `the assertion \`${type}\` has nothing to check`);
    return undefined;
  }

  const seesConfig = positiveName === 'javascript' && config !== undefined;
  return seesConfig ? { ...expectation, config } : expectation;
}

/** Converts an assertion whose value is a JSON Schema; undefined with a note if it is not one. */
function convertJsonAssertion(
  { at, type, value, threshold }: Assertion,
  isNegated: boolean,
  convert: ConvertValue,
  conversion: ConversionContext,
): JsonObject | undefined {
  const schema = readJsonSchema(value);
  const fault = findJsonFault(schema, conversion);
  if (schema !== 'invalid' && fault === undefined) return convert(schema, threshold);

  const reason = `the assertion \`${type}\` ${fault}`;
  if (!conversion.isForTest) {
    conversion.reportOmission(at, reason);
    return undefined;
  }

  // promptfoo fails the case, unless the type is negated and the answer holds no JSON.
  return isNegated ? convert(undefined, threshold) : buildFailingExpectation(reason);
}

/** Reads the schema from a map, or from its text in YAML or JSON; undefined without one. */
function readJsonSchema(value: JsonValue | undefined): JsonObject | 'invalid' | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return value ? 'invalid' : undefined;

  try {
    const schema = parseYaml(value).json();
    if (schema === null) return undefined;
    return isJsonObject(schema) ? schema : 'invalid';
  } catch (error) {
    if (error instanceof FileFault) return 'invalid';
    throw error;
  }
}

/** Explains what is wrong with a schema, as a predicate. Only a test reads its keywords. */
function findJsonFault(
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

/** Returns expectations that are met unless all of `expectations` are. */
function negate(expectations: readonly JsonObject[]): JsonObject[] {
  const opposites = expectations.map(expectation =>
    isJsonObject(expectation['not']) ? expectation['not'] : { not: expectation },
  );
  return opposites.length === 1 ? opposites : [{ any: opposites }];
}
