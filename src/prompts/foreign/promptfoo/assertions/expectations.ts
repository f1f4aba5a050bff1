import { FileFault } from '../../../../files/formats/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { textOrNothing } from '../../../../files/formats/json-fields.ts';
import { parseYaml } from '../../../../files/formats/yaml.ts';
import { needsNode, nodeOnlyName } from '../../../../processes/node-only.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { JUDGED_NOTE } from '../../converted.ts';
import { PYTHON } from '../../python.ts';
import type { Conversion } from '../conversion.ts';
import { isUnreadable, NEEDS_TYPES } from '../program-files.ts';
import { PYTHON_CHECK } from '../programs/python-check.ts';
import { type Assertion, noteType, positiveType } from './assertion.ts';
import { assertionFault, CONVERSIONS, failing, ofNoWords } from './assertion-conversions.ts';
import { type CaseVariables, renderValue } from './assertion-value.ts';
import { forbiddenSkills } from './measured-assertions.ts';
import { faultOfSchema } from './schema-faults.ts';

/**
 * Returns the expectations of an assertion, with variables filled in; undefined with a note if it has no equivalent. It has
 * none as long as Nunjucks has not rendered its value.
 */
export function toExpectations(
  assertion: Assertion,
  vars: CaseVariables,
  conversion: Conversion,
): JsonObject[] | undefined {
  const { at, type, transform, judge } = assertion;
  const positiveName = positiveType(type);
  if (noteUnusableCode(assertion, positiveName, conversion)) return undefined;
  const leftOutBefore = conversion.leftOut;
  const renderedValue = renderValue(assertion, vars, conversion);
  if (conversion.isForTest && conversion.leftOut > leftOutBefore) return undefined;
  if ('isUnknown' in renderedValue) return [];
  if ('fault' in renderedValue) return [failing(renderedValue.fault)];
  const value = type === 'not-skill-used' ? forbiddenSkills(renderedValue.value) : renderedValue.value;
  if (positiveName === 'python' && conversion.isForTest) {
    const command = pythonCommand({ ...assertion, value }, conversion);
    return [{ command, ...(transform !== undefined && { transform }) }];
  }
  // promptfoo fails the case, even if the type begins with `not-`.
  const fault = conversion.isForTest ? assertionFault(positiveName, value, assertion.threshold) : undefined;
  if (fault !== undefined) return [failing(`the assertion \`${type}\` ${fault}`)];
  const expectation = convertAssertion(assertion, positiveName, value, conversion);
  if (!expectation) return undefined;
  if (positiveName === 'llm-rubric' && judge === undefined) conversion.tell(at, JUDGED_NOTE);
  const expectations = isJsonList(expectation['all']) ? (expectation['all'] as JsonObject[]) : [expectation];
  const sharedFields = {
    ...(transform !== undefined && { transform }),
    ...(judge !== undefined && { judge }),
  };
  return (type === positiveName ? expectations : negated(expectations)).map(expectation => ({
    ...expectation,
    ...sharedFields,
  }));
}

/**
 * Reports code of an assertion that can't or mustn't run here; returns true if the assertion is left out because of
 * it.
 */
function noteUnusableCode(assertion: Assertion, positiveName: string, conversion: Conversion): boolean {
  const { at, type, value } = assertion;
  if (positiveName === 'javascript') {
    const code = textOrNothing(value);
    const nodeName = conversion.isForTest ? undefined : nodeOnlyName(code);
    if (nodeName !== undefined) {
      conversion.note(at, `the assertion \`${type}\` uses \`${nodeName}\`, which its engine does not have`);
      return true;
    }
    const [, typeScriptFile] = /^file:\/\/(.*\.[cm]?ts)(?::\w+)?$/u.exec(code) ?? [];
    if (typeScriptFile !== undefined && conversion.isForTest) conversion.files.read(typeScriptFile, at);
    if (typeScriptFile !== undefined && isUnreadable(typeScriptFile, conversion)) {
      conversion.note(at, `the assertion \`${type}\` is TypeScript, which ${NEEDS_TYPES}`);
      return true;
    }
  }
  if (!conversion.isForTest || !startsProgram(assertion, positiveName, conversion)) return false;
  return conversion.noteProgram(at, `the assertion \`${type}\` runs a program`);
}

const JSON_TYPE = /^(?:is|contains)-json$/u;

/** Returns the schema from a map, or from its text in YAML or JSON; undefined without one, false for another text. */
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

/** Converts an assertion as if its type had no `not-`; undefined with a note if it has no equivalent. */
function convertAssertion(
  assertion: Assertion,
  positiveName: string,
  writtenValue: JsonValue | undefined,
  conversion: Conversion,
): JsonObject | undefined {
  const { at, type, threshold, config } = assertion;
  const convert = Object.hasOwn(CONVERSIONS, positiveName) ? CONVERSIONS[positiveName] : undefined;
  if (!convert) {
    noteType(at, type, conversion);
    return undefined;
  }
  const isJson = JSON_TYPE.test(positiveName);
  const value = isJson ? readJsonSchema(writtenValue) : writtenValue;
  if (isJson && conversion.isForTest) {
    const fault =
      value === false ? 'has a value that is not a JSON Schema' : isJsonObject(value) && faultOfSchema(value);
    const reason = `the assertion \`${type}\` ${fault}`;
    // promptfoo fails the case, unless the type is negated and the answer holds no JSON.
    if (fault) return type === positiveName ? failing(reason) : convert(undefined, threshold);
  }
  if (isJson && value === false) {
    conversion.note(at, `the assertion \`${type}\` has a value that is not a JSON Schema`);
    return undefined;
  }
  const expectation =
    convert(value, threshold) ?? (conversion.isForTest ? ofNoWords(positiveName) : undefined);
  if (!expectation) {
    conversion.note(at, `the assertion \`${type}\` has nothing to check`);
    return undefined;
  }
  const seesConfig = positiveName === 'javascript' && config !== undefined;
  return seesConfig ? { ...expectation, config } : expectation;
}

/** Returns expectations that are met unless all of the given ones are. */
function negated(expectations: readonly JsonObject[]): JsonObject[] {
  const opposites = expectations.map(expectation =>
    isJsonObject(expectation['not']) ? expectation['not'] : { not: expectation },
  );
  return opposites.length === 1 ? opposites : [{ any: opposites }];
}

/** Returns true if an assertion starts a program: `python`, or JavaScript that needs Node. */
function startsProgram({ at, value }: Assertion, type: string, conversion: Conversion): boolean {
  if (type === 'python') return true;
  const [, file] = /^file:\/\/(.*?\.[cm]?[jt]s)(?::\w+)?$/u.exec(textOrNothing(value)) ?? [];
  if (type !== 'javascript') return false;
  if (file === undefined) return nodeOnlyName(textOrNothing(value)) !== undefined;
  return file.endsWith('ts') || needsNode(conversion.files.read(file, at).text);
}

/** Returns the program that checks an answer like `python`. It negates the verdict itself, because errors never pass. */
function pythonCommand({ at, type, value, threshold, config }: Assertion, conversion: Conversion): string[] {
  const writtenText = textOrNothing(value);
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
