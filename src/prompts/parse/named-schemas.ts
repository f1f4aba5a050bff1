import type { JsonValue } from '../../files/formats/json.ts';
import { parseYaml } from '../../files/formats/yaml.ts';
import { SCALAR_TYPES } from '../schemas/picoschema.ts';

/** Reads a file in a prompt file's folder; undefined if there is none. */
export type ReadSibling = (name: string) => string | undefined;

/** Matches front matter with its lines of `---`, and the comments before it. */
const FRONT_MATTER = /^(?:[ \t]*(?:#[^\n]*)?\n)*---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/u;

/** Matches a schema that is only a name, such as `schema: Recipe`. */
const SCHEMA_REFERENCE = /\bschema:[ \t]*([A-Za-z_][\w.-]*)(?=[ \t]*(?:[,}\r\n]|$))/gu;

/**
 * Replaces schemas that are only a name with the schema in `<name>.schema.json` or
 * `<name>.schema.yaml`, in the prompt file's folder or in `schemas/` there. A prompt version has to
 * be one self-contained text.
 *
 * @throws {FileFault} for a schema file that is not YAML
 */
export function withNamedSchemas(text: string, readSibling: ReadSibling): string {
  const normalizedText = text.replaceAll('\r\n', '\n');
  const [head = ''] = FRONT_MATTER.exec(normalizedText) ?? [];
  const inlinedHead = head.replaceAll(SCHEMA_REFERENCE, (reference, name: string) => {
    const schema = SCALAR_TYPES.has(name) ? undefined : findNamedSchema(name, readSibling);
    return schema === undefined ? reference : `schema: ${JSON.stringify(schema)}`;
  });
  return inlinedHead + normalizedText.slice(head.length);
}

function findNamedSchema(name: string, readSibling: ReadSibling): JsonValue | undefined {
  for (const folder of ['', 'schemas/']) {
    for (const extension of ['json', 'yaml']) {
      const file = `${folder}${name}.schema.${extension}`;
      const text = readSibling(file);
      if (text !== undefined) return parseYaml(text, 1, file).toJson();
    }
  }
  return undefined;
}
