import { FileFault } from '../../../../files/formats/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { toTextOrEmpty } from '../../../../files/formats/json-fields.ts';
import { parseYaml } from '../../../../files/formats/yaml.ts';
import { findNodeOnlyName, needsNode } from '../../../../processes/node-only.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { JUDGED_NOTE } from '../../converted-prompt.ts';
import { PYTHON } from '../../python.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { isUnreadable, NEEDS_TYPES } from '../files/program-files.ts';
import { PYTHON_CHECK } from '../programs/python-check.ts';
import { type Assertion, reportUnsupportedType, withoutNot } from './assertion.ts';
import {
  buildFailingExpectation,
  CONVERSIONS,
  findAssertionFault,
  findEmptyListExpectation,
} from './assertion-conversions.ts';
import { invertSkills } from './measured-assertions.ts';
import { type CaseVariables, renderAssertionValue } from './render-assertion-value.ts';
import { findSchemaFault } from './schema-faults.ts';

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
  const positiveName = withoutNot(type);
  if (reportUnusableCode(assertion, positiveName, conversion)) return undefined;

  const omissionsBefore = conversion.omissionCount;
  const renderedValue = renderAssertionValue(assertion, vars, conversion);
  if (conversion.isForTest && conversion.omissionCount > omissionsBefore) return undefined;
  if ('isUnknown' in renderedValue) return [];
  if ('fault' in renderedValue) return [buildFailingExpectation(renderedValue.fault)];

  const value = type === 'not-skill-used' ? invertSkills(renderedValue.value) : renderedValue.value;
  if (positiveName === 'python' && conversion.isForTest) {
    const command = buildPythonCommand({ ...assertion, value }, conversion);
    return [{ command, ...(transform !== undefined && { transform }) }];
  }

  // promptfoo fails the case, even if the type begins with `not-`.
  const fault = conversion.isForTest
    ? findAssertionFault(positiveName, value, assertion.threshold)
    : undefined;
  if (fault !== undefined) return [buildFailingExpectation(`the assertion \`${type}\` ${fault}`)];

  const expectation = convertPositive(assertion, positiveName, value, conversion);
  if (!expectation) return undefined;

  if (positiveName === 'llm-rubric' && judge === undefined) {
    conversion.reportHarmless(at, JUDGED_NOTE);
  }

  const expectations = isJsonList(expectation['all'])
    ? (expectation['all'] as JsonObject[])
    : [expectation];
  const sharedFields = {
    ...(transform !== undefined && { transform }),
    ...(judge !== undefined && { judge }),
  };

  return (type === positiveName ? expectations : negate(expectations)).map(expectation => ({
    ...expectation,
    ...sharedFields,
  }));
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

const JSON_TYPE = /^(?:is|contains)-json$/u;

/**
 * Returns the schema from a map, or from its text in YAML or JSON; undefined without one, false for
 * another text.
 */
function readJsonSchema(value: JsonValue | undefined): JsonObject | undefined | false {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return value ? false : undefined;
  try {
    const schema = parseYaml(value).json();
    if (schema === null) return undefined;
    return isJsonObject(schema) && schema;
  } catch (error) {
    if (error instanceof FileFault) return false;
    throw error;
  }
}

/**
 * Converts an assertion as if its type had no `not-`; undefined with a note if it has no
 * equivalent.
 */
function convertPositive(
  assertion: Assertion,
  positiveName: string,
  writtenValue: JsonValue | undefined,
  conversion: ConversionContext,
): JsonObject | undefined {
  const { at, type, threshold, config } = assertion;
  const convert = Object.hasOwn(CONVERSIONS, positiveName) ? CONVERSIONS[positiveName] : undefined;
  if (!convert) {
    reportUnsupportedType(at, type, conversion);
    return undefined;
  }

  const isJson = JSON_TYPE.test(positiveName);
  const value = isJson ? readJsonSchema(writtenValue) : writtenValue;
  if (isJson && conversion.isForTest) {
    const fault =
      value === false
        ? 'has a value that is not a JSON Schema'
        : isJsonObject(value) && findSchemaFault(value);
    const reason = `the assertion \`${type}\` ${fault}`;
    // promptfoo fails the case, unless the type is negated and the answer holds no JSON.
    if (fault) {
      return type === positiveName
        ? buildFailingExpectation(reason)
        : convert(undefined, threshold);
    }
  }

  if (isJson && value === false) {
    conversion.reportOmission(
      at,
      `the assertion \`${type}\` has a value that is not a JSON Schema`,
    );
    return undefined;
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

/** Returns expectations that are met unless all of the given ones are. */
function negate(expectations: readonly JsonObject[]): JsonObject[] {
  const opposites = expectations.map(expectation =>
    isJsonObject(expectation['not']) ? expectation['not'] : { not: expectation },
  );
  return opposites.length === 1 ? opposites : [{ any: opposites }];
}

/** Returns true if an assertion starts a program: `python`, or JavaScript that needs Node. */
function startsProgram(
  { at, value }: Assertion,
  type: string,
  conversion: ConversionContext,
): boolean {
  if (type === 'python') return true;
  const [, file] = /^file:\/\/(.*?\.[cm]?[jt]s)(?::\w+)?$/u.exec(toTextOrEmpty(value)) ?? [];
  if (type !== 'javascript') return false;
  if (file === undefined) return findNodeOnlyName(toTextOrEmpty(value)) !== undefined;
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
  const writtenText = toTextOrEmpty(value);
  const about = JSON.stringify({
    inverse: type.startsWith('not-'),
    ...(typeof threshold === 'number' && { threshold }),
    context: { ...(config !== undefined && { config }) },
  });

  const [, file, name = ''] = /^file:\/\/(.*?\.py)(?::([\w.]+))?$/u.exec(writtenText) ?? [];
  if (file === undefined) {
    return [PYTHON, '-c', PYTHON_CHECK, 'code', writtenText.trimEnd(), '', about];
  }

  conversion.files.read(file, at);
  return [PYTHON, '-c', PYTHON_CHECK, 'file', file, name, about];
}
