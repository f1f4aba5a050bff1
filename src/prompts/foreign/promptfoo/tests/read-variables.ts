import { faultAt } from '../../../../files/formats/file-fault.ts';
import { isJsonList, type JsonValue } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import type { SourcePlace } from '../files/source-files.ts';
import { mentionsEnvironment } from '../nunjucks/fill-variables.ts';
import type { VariableValue } from './configured-test.ts';
import { readMediaVariable } from './media-variable.ts';

/** The way in which lists are read. */
interface VariableOptions {
  /** True to keep a list of texts as one value; by default, each text makes its own case. */
  readonly keepsLists?: boolean;
}

/** Reads the variables of a test. */
export function readVariables(
  node: YamlValue,
  conversion: ConversionContext,
  options: VariableOptions = {},
): Map<string, readonly VariableValue[]> {
  if (node.isEmpty) return new Map();
  const maps = node.isMap ? [node] : readVariableFiles(node, conversion);
  const values = maps.flatMap(map => [...readMergedValues(map, 'vars')]);
  return new Map(
    values.map(([key, value]) => [key, readVariableValues(key, value, conversion, options)]),
  );
}

/**
 * Returns the contents of the files that paths or patterns name, relative to the file that has
 * them.
 */
function readVariableFiles(node: YamlValue, conversion: ConversionContext): YamlValue[] {
  const items = node.isList ? node.readItems('vars') : [node];
  return items.flatMap(item => {
    const pattern = item.readText('vars');
    const files = conversion.files.listFiles(item, pattern);
    if (files.length === 0) {
      conversion.reportHarmless(item, `${pattern} names no file, and so adds no variables`);
    }
    return files.map(file => conversion.files.readYaml(file, item));
  });
}

/** Returns the values of a variable: several for a list of texts, or for a pattern of files. */
export function readVariableValues(
  key: string,
  node: YamlValue,
  conversion: ConversionContext,
  { keepsLists = false }: VariableOptions = {},
): readonly VariableValue[] {
  const json = node.toJson();
  if (json === null) return [{ text: '', json }];

  if (typeof json === 'string') {
    const value = withoutLastLineBreak(json);
    const texts = readMatchingTexts(value, node, conversion);
    return texts.map(text => ({ ...toVariableValue(text, node), ...pickVariableFile(value) }));
  }

  if (typeof json !== 'object') return [{ text: String(json), json }];

  if (!keepsLists && isListOfTexts(json)) {
    return json.map(item => ({
      ...toVariableValue(readVariableText(item, node, conversion), node),
      ...pickVariableFile(item),
    }));
  }

  conversion.reportHarmless(
    node,
    `the variable \`${key}\` is ${isJsonList(json) ? 'a list' : 'an object'}: it is given as JSON`,
  );
  const value: unknown = json;
  return [{ text: String(value), json }];
}

/** Drops the last line break of a block of YAML. */
function withoutLastLineBreak(text: string): string {
  return text.replace(/\n$/u, '');
}

function isListOfTexts(value: JsonValue): value is readonly string[] {
  return isJsonList(value) && value.length > 0 && value.every(item => typeof item === 'string');
}

function pickVariableFile(text: string): Pick<VariableValue, 'file'> {
  return text.startsWith('file://') ? { file: text } : {};
}

/** Returns a text as the value of a variable. */
export function toVariableValue(text: string, place: SourcePlace): VariableValue {
  return { text, json: text, place };
}

/** Returns a text, or the contents of the files that match a pattern. */
function readMatchingTexts(
  text: string,
  place: SourcePlace,
  conversion: ConversionContext,
): readonly string[] {
  if (!/^file:\/\/[^\n]*[*?]/u.test(text)) return [readVariableText(text, place, conversion)];

  const files = conversion.files.listMatching(text, place);
  if (files.length === 0) throw faultAt(place, `${text} names no file`);
  return files.map(file => readVariableText(`file://${file}`, place, conversion));
}

/** Returns a text, or the content of a file; YAML as JSON. */
export function readVariableText(
  text: string,
  place: SourcePlace,
  conversion: ConversionContext,
): string {
  if (!text.startsWith('file://')) {
    // promptfoo fills these in as it reads the configuration itself, for assertions and programs
    // too.
    if (conversion.findConfigurationLine(place) !== undefined && mentionsEnvironment(text)) {
      conversion.reportOmission(place, 'a variable with `{{env.…}}` has no equivalent');
    }
    return text;
  }

  if (/\.(?:[cm]?[jt]s|py|rb)(?::\w+)?$/iu.test(text)) {
    conversion.reportOmission(
      place,
      `${text} is a program, which has no equivalent: the variable is empty`,
    );
    return '';
  }

  if (/\.pdf$/iu.test(text)) {
    conversion.reportOmission(
      place,
      `${text} is a PDF, whose text can't be extracted: the variable is empty`,
    );
    return '';
  }

  const media = readMediaVariable(text, place, conversion);
  if (media !== undefined) return media;
  if (/\.ya?ml$/iu.test(text)) {
    return JSON.stringify(conversion.files.readYaml(text, place).toJson());
  }
  return conversion.files.read(text, place).text.trim();
}
