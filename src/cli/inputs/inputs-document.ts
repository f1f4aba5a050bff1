import { usageError } from '../errors.ts';
import { isObject } from '../json-value.ts';
import { parseJsonAsWritten } from './json-as-written.ts';

/** What `--inputs` holds. */
export interface InputsDocument {
  readonly text: ReadonlyMap<string, string>;
  /** As `--image` takes them: https URLs, data URLs, file names. */
  readonly images: readonly string[];
}

/** JSON or YAML, nested as in the interface or a flat map. Scalars become text as they were written. */
export async function parseInputsDocument(source: string, what: string): Promise<InputsDocument> {
  return inputsOf(parseJsonAsWritten(source) ?? (await parseYaml(source, what)), `${what}: `);
}

/** The inputs a value holds whose scalars are texts already; `where` begins every error. */
export function inputsOf(value: unknown, where: string): InputsDocument {
  if (!isObject(value)) throw usageError(`${where}a map of keys to values is needed`);
  if (!isNested(value)) return { text: textsOf(value, where), images: [] };
  const strange = Object.keys(value).find(key => key !== 'textInputs' && key !== 'imageInputs');
  if (strange !== undefined) {
    throw usageError(
      `${where}${JSON.stringify(strange)} stands beside textInputs and imageInputs`,
      'Give either {textInputs, imageInputs} or a flat map of keys to values.',
    );
  }
  const { textInputs = {}, imageInputs = [] } = value;
  if (!isObject(textInputs)) throw usageError(`${where}textInputs must be a map of keys to values`);
  if (!Array.isArray(imageInputs)) throw usageError(`${where}imageInputs must be a list`);
  return {
    text: textsOf(textInputs, where),
    images: imageInputs.map((image, at) => imageOf(image, at, where)),
  };
}

async function parseYaml(source: string, what: string): Promise<unknown> {
  const { parseYamlAsWritten } = await import('./yaml-as-written.ts');
  return parseYamlAsWritten(source, what);
}

/** A flat map may well have a text called `textInputs`; only a map or a list tells the two apart. */
export function isNested(value: Readonly<Record<string, unknown>>): boolean {
  return isObject(value['textInputs']) || Array.isArray(value['imageInputs']);
}

function textsOf(map: Readonly<Record<string, unknown>>, where: string): Map<string, string> {
  return new Map(
    Object.entries(map).map(([key, value]) => {
      if (typeof value === 'string') return [key, value];
      throw usageError(`${where}the value of ${JSON.stringify(key)} is ${kindOf(value)}, not text`);
    }),
  );
}

function imageOf(value: unknown, at: number, where: string): string {
  if (typeof value === 'string' && value !== '' && value !== '-') return value;
  if (isObject(value)) {
    if (value['type'] === 'url' && typeof value['url'] === 'string') return value['url'];
    if (value['type'] === 'base64' && typeof value['base64'] === 'string') {
      return asDataUrl(value['base64']);
    }
  }
  throw usageError(`${where}imageInputs[${at}] is neither {type: url, url} nor {type: base64, base64}`);
}

function asDataUrl(base64: string): string {
  return base64.startsWith('data:') ? base64 : `data:;base64,${base64}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'a list' : 'a map';
}
