import type { JsonObject } from '../../../../../files/formats/json.ts';
import type { ConversionContext } from '../../conversion-context.ts';
import type { DeclaredProvider, EntryFields, WrittenProvider } from '../promptfoo-provider.ts';
import { findUnusedName } from '../unused-name.ts';
import { CLAUDE_AGENT_ID } from './claude-agent.ts';
import { readAddressFields } from './http-provider.ts';
import { readTextGenerationFields, TEXT_GENERATION_ID } from './hugging-face-provider.ts';
import { readAgentFields, readExecFields, readFileFields } from './program-provider.ts';

/** Matches a file that exports a provider: `file://provider.js`, `file://provider.py:call_api`. */
const PROVIDER_FILE_ID = /^(?:file:\/\/)(?<file>.*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;

/** Matches a path such as `providers/own.ts`, without `file://`. */
const SCRIPT_ID = /^(?<file>[^:]+\.[cm]?[jt]s)$/u;

/** Matches a Python file and possibly the name of a function: `python:provider.py:call_api`. */
const PYTHON_ID = /^python:(?:file:\/\/)?(?<file>.*?\.py)(?::(?<name>[\w.]+))?$/u;

/** Matches an address, or `http` and `https` for one in `config`. */
const ADDRESS_ID = /^https?(?:$|:\/\/)/u;

/** Maximum length of a name that is made from an id or a label, without its ending. */
const MAX_SLUG_LENGTH = 40;

/**
 * Returns the entry for a provider that is a program or an address; undefined for any other. For
 * one that can't be expressed, adds a note and returns undefined.
 */
export function declareProvider(
  provider: WrittenProvider,
  conversion: ConversionContext,
): DeclaredProvider | undefined {
  const declaration = findFieldsReader(provider.id)?.(provider, conversion);
  if (!declaration) return undefined;

  const { transform, givesResults = false } = declaration;
  const fields = { modality: 'text', ...declaration.fields };
  const model = registerModelName(
    provider,
    'address' in fields ? 'address' : 'program',
    fields,
    conversion,
  );
  return { model, entry: { model, ...fields }, transform, givesResults };
}

/** Returns the fields of a provider's entry. Reports one without an equivalent. */
type FieldsReader = (
  provider: WrittenProvider,
  conversion: ConversionContext,
) => EntryFields | undefined;

/** Returns the function that reads a program or an address; undefined for any other provider. */
function findFieldsReader(id: string): FieldsReader | undefined {
  if (TEXT_GENERATION_ID.test(id)) return readTextGenerationFields;
  if (ADDRESS_ID.test(id)) return readAddressFields;

  const { groups } = PYTHON_ID.exec(id) ?? PROVIDER_FILE_ID.exec(id) ?? SCRIPT_ID.exec(id) ?? {};
  if (groups) {
    const namedFile = { file: groups['file'] ?? '', name: groups['name'] ?? '' };
    return (provider, conversion) => readFileFields(provider, namedFile, conversion);
  }

  if (CLAUDE_AGENT_ID.test(id)) return readAgentFields;
  return id.startsWith('exec:') ? readExecFields : undefined;
}

/**
 * Registers an entry under a name that neither a built-in model nor a provider with another entry
 * has, and returns the name.
 */
function registerModelName(
  { id, label }: WrittenProvider,
  kind: string,
  fields: JsonObject,
  { takenModelNames, entriesByModel }: ConversionContext,
): string {
  const describedName = (
    label ?? id.replace(/^(?:exec:|python:|file:\/\/|https?:\/\/)/u, '')
  ).toLowerCase();
  const slug = describedName
    .replace(/[^a-z\d]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, MAX_SLUG_LENGTH);
  const name = slug === '' ? kind : `${slug}-${kind}`;
  const entry = JSON.stringify(fields);
  const freeName = findUnusedName(
    name,
    candidate =>
      !takenModelNames.includes(candidate) && (entriesByModel.get(candidate) ?? entry) === entry,
  );
  entriesByModel.set(freeName, entry);
  return freeName;
}
