import { FileFault } from '../files/yaml-file.ts';
import { InvalidPromptFile, type PromptDefinition } from './definition.ts';
import { readFrontMatter } from './front-matter.ts';
import { sortInputs } from './inputs.ts';
import { slugOf } from './slug.ts';
import { splitSource } from './source.ts';
import { type CompiledTemplate, compileTemplate } from './template.ts';

/** The model of a prompt that names none. */
export const DEFAULT_MODEL = 'echo';

/** Reads a prompt file: YAML front matter and a Handlebars template. Throws InvalidPromptFile. */
export function parsePromptFile(text: string, file: string): PromptDefinition {
  const slug = slugOf(file);
  try {
    return define(text, slug);
  } catch (error) {
    if (error instanceof FileFault) throw new InvalidPromptFile(file, error.line, error.what);
    throw error;
  }
}

function define(text: string, slug: string): PromptDefinition {
  const { source, frontMatter, frontMatterLine, template, templateLine } = splitSource(text);
  const head = readFrontMatter(frontMatter, frontMatterLine);
  const declared = new Set(head.schema?.map(({ key }) => key));
  const { body, uses } = compileAt(template, templateLine, key => declared.has(key));
  return {
    slug,
    title: head.title?.text ?? slug,
    description: head.description?.text ?? '',
    model: head.model?.text ?? DEFAULT_MODEL,
    runOptions: Object.fromEntries([...head.runOptions].map(([key, { text }]) => [key, text])),
    ...sortInputs(head, uses),
    source,
    template,
    body,
    lines: {
      model: head.model?.line ?? 1,
      runOptions: Object.fromEntries([...head.runOptions].map(([key, { line }]) => [key, line])),
    },
  };
}

/** Lines of a template are counted from its own first line; people count from the file's. */
function compileAt(
  template: string,
  firstLine: number,
  declares: (key: string) => boolean,
): CompiledTemplate {
  const inFile = (line: number): number => line + firstLine - 1;
  try {
    const { body, uses } = compileTemplate(template, declares);
    return { body, uses: uses.map(use => ({ ...use, line: inFile(use.line) })) };
  } catch (error) {
    if (error instanceof FileFault) throw new FileFault(inFile(error.line), error.what);
    throw error;
  }
}
