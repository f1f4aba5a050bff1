import type { PromptDefinition } from './definition.ts';

/** Changes with the form of a definition: one that was kept in another form is parsed anew. */
const FORM = 3;

/** A definition to be kept beside its source, so that a run need not load the parsers. */
export function parsedForm(definition: PromptDefinition): string {
  return JSON.stringify({ form: FORM, definition });
}

/** What `parsedForm` wrote; of another release only the partials can be relied on. */
export function readForm(
  text: string,
): { readonly definition: PromptDefinition } | { readonly partials: PromptDefinition['partials'] } {
  const { form, definition } = JSON.parse(text) as { form: number; definition: PromptDefinition };
  return form === FORM ? { definition } : { partials: definition.partials ?? {} };
}
