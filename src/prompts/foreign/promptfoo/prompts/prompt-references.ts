import type { YamlValue } from '../../../../files/formats/yaml.ts';

/** References to every prompt. */
const EVERY_PROMPT = ['*'];

/** The names by which providers and tests refer to a prompt. */
export interface PromptNames {
  readonly label: string;
  readonly id?: string | undefined;
}

/** Returns true if references include a prompt. Undefined references include every prompt. */
export function includesPrompt(
  references: readonly string[] | undefined,
  { label, id }: PromptNames,
): boolean {
  return includesName(references, id === undefined ? [label] : [label, id]);
}

/**
 * Returns true if references include one of the names of a prompt or provider, as promptfoo
 * compares them.
 */
export function includesName(
  references: readonly string[] | undefined,
  names: readonly string[],
): boolean {
  if (references === undefined) return true;
  return references.some(reference =>
    names.some(
      name =>
        name === reference ||
        name.startsWith(`${reference}:`) ||
        (reference.endsWith('*') && name.startsWith(reference.slice(0, -1))),
    ),
  );
}

/** Reads references to prompts. promptfoo takes anything but a list as every prompt. */
export function readReferences(node: YamlValue | undefined): readonly string[] | undefined {
  if (!node || node.isEmpty) return undefined;
  return node.isList
    ? node.readItems('prompts').map(item => item.readText('a prompt'))
    : EVERY_PROMPT;
}
