import type { JsonObject } from '../../../../../files/formats/json.ts';
import type { ConversionContext } from '../../conversion-context.ts';
import type { DeclaredProvider, EntryFields, WrittenProvider } from '../promptfoo-provider.ts';
import { findUnusedName } from '../unused-name.ts';
import { CLAUDE_AGENT } from './claude-agent.ts';
import { readAddressFields } from './http-provider.ts';
import { readTextGenerationFields, TEXT_GENERATION } from './hugging-face-provider.ts';
import { readAgentFields, readExecFields, readFileFields } from './program-provider.ts';

/** Matches a file that exports a provider: `file://provider.js`, `file://provider.py:call_api`. */
const PROVIDER_FILE = /^(?:file:\/\/)(?<file>.*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;

/** Matches a path such as `providers/own.ts`, without `file://`. */
const SCRIPT_PATH = /^(?<file>[^:]+\.[cm]?[jt]s)$/u;

/** Matches a Python file and possibly the name of a function: `python:provider.py:call_api`. */
const PYTHON_ID = /^python:(?:file:\/\/)?(?<file>.*?\.py)(?::(?<name>[\w.]+))?$/u;

const ADDRESS = /^https?(?:$|:\/\/)/u;

/**
 * Returns the entry for a provider that is a program or an address; undefined for any other, and
 * with a note for one that can't be expressed.
 */
export function declareProvider(
  provider: WrittenProvider,
  conversion: ConversionContext,
): DeclaredProvider | undefined {
  const declaration = findFieldsReader(provider.id)?.(provider, conversion);
  if (!declaration) return undefined;

  const { transform, givesResults = false } = declaration;
  const fields = { modality: 'text', ...declaration.fields };
  const model = chooseDeclaredName(
    provider,
    'address' in fields ? 'address' : 'program',
    fields,
    conversion,
  );
  return { model, entry: { model, ...fields }, transform, givesResults };
}

type FieldsReader = (
  provider: WrittenProvider,
  conversion: ConversionContext,
) => EntryFields | undefined;

/** Returns the function that reads a program or an address; undefined for any other provider. */
function findFieldsReader(id: string): FieldsReader | undefined {
  if (TEXT_GENERATION.test(id)) return readTextGenerationFields;
  if (ADDRESS.test(id)) return readAddressFields;

  const { groups } = PYTHON_ID.exec(id) ?? PROVIDER_FILE.exec(id) ?? SCRIPT_PATH.exec(id) ?? {};
  if (groups) {
    const namedFile = { file: groups['file'] ?? '', name: groups['name'] ?? '' };
    return (provider, conversion) => readFileFields(provider, namedFile, conversion);
  }

  if (CLAUDE_AGENT.test(id)) return readAgentFields;
  return id.startsWith('exec:') ? readExecFields : undefined;
}

/** Returns a name that no built-in model and no provider with another entry has. */
function chooseDeclaredName(
  { id, label }: WrittenProvider,
  kind: string,
  fields: JsonObject,
  { takenModels, entriesByModel }: ConversionContext,
): string {
  const words = (
    label ?? id.replace(/^(?:exec:|python:|file:\/\/|https?:\/\/)/u, '')
  ).toLowerCase();
  const slug = words
    .replace(/[^a-z\d]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 40);
  const name = slug === '' ? kind : `${slug}-${kind}`;
  const entry = JSON.stringify(fields);
  const freeName = findUnusedName(
    name,
    candidate =>
      !takenModels.includes(candidate) && (entriesByModel.get(candidate) ?? entry) === entry,
  );
  entriesByModel.set(freeName, entry);
  return freeName;
}
