import { randomUUID } from 'node:crypto';
import Handlebars from 'handlebars';
import { type AddedHelpers, instrument } from './instrument.ts';
import { HELPERS } from './syntax.ts';

export interface Template {
  readonly template: string;
  readonly partials: Readonly<Record<string, string>>;
  /** The names of the inputs that the schema declares. */
  readonly declaredInputs: readonly string[];
}

export interface CompiledTemplate {
  readonly render: Handlebars.TemplateDelegate;
  /** The helpers that are added to those of the language. */
  readonly helpers: AddedHelpers;
}

const MAX_CACHED_TEMPLATES = 50;

/** Compiles templates and caches them, because a prompt is often rendered many times in a row. */
export class CompiledTemplates {
  readonly #templatesByText = new Map<string, CompiledTemplate>();

  /** Returns the compiled form of a template that was read without a fault. */
  get(template: Template): CompiledTemplate {
    const text = JSON.stringify([template.template, template.partials, template.declaredInputs]);
    const cachedTemplate = this.#templatesByText.get(text);
    if (cachedTemplate) return cachedTemplate;
    const compiled = compileTemplate(template);
    if (this.#templatesByText.size >= MAX_CACHED_TEMPLATES) this.#templatesByText.clear();
    this.#templatesByText.set(text, compiled);
    return compiled;
  }
}

/** Compiles a template so that only the known helpers are called and none is looked up by name. */
function compileTemplate({ template, partials, declaredInputs }: Template): CompiledTemplate {
  const handlebars = Handlebars.create();
  const helperNames = createAddedHelpers();
  const knownNames = [...Object.keys(HELPERS), ...Object.values<string>({ ...helperNames })];

  const knownHelpers = Object.fromEntries(knownNames.map(name => [name, true]));
  const declaredNames = new Set(declaredInputs);
  const compileText = (text: string): Handlebars.TemplateDelegate =>
    handlebars.compile(
      instrument(handlebars.parse(text), helperNames, name => declaredNames.has(name)),
      {
        knownHelpers,
        knownHelpersOnly: true,
        noEscape: true,
        // The parser has already stripped the lines of blocks.
        ignoreStandalone: true,
      },
    );

  for (const [name, text] of Object.entries(partials)) {
    handlebars.registerPartial(name, compileText(text));
  }

  return { render: compileText(template), helpers: helperNames };
}

function createAddedHelpers(): AddedHelpers {
  const nonce = randomUUID();
  return {
    count: `count ${nonce}`,
    value: `value ${nonce}`,
    block: `block ${nonce}`,
    partial: `partial ${nonce}`,
  };
}
