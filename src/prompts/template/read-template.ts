import type { FilePosition } from '../../files/formats/file-fault.ts';
import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';
import { parseTemplate } from './parse-template.ts';
import { TagReader } from './read-tags.ts';
import { Scope, type TemplatePlace, toFilePosition } from './scope.ts';
import {
  type FieldUse,
  findInlineName,
  HELPERS,
  isHelperBlock,
  isPath,
  type PartialLookup,
} from './syntax.ts';

export interface TemplateSource {
  readonly template: string;
  /** The place in the file where the template begins. */
  readonly start: FilePosition;
  readonly findings: Findings;
  /** Returns true if the schema declares an input of this name. */
  readonly declares: (key: string) => boolean;
  readonly partials: PartialLookup;
  /** True for a partial that is read on its own, so that its `this` is unknown. */
  readonly isPartial: boolean;
}

export interface TemplateReading {
  /** Every use of an input, in order of appearance. */
  readonly uses: readonly FieldUse[];
  /** True if the template also takes all inputs at once. */
  readonly usesAll: boolean;
  /** The texts of the partials by name, including those that partials use. */
  readonly partials: Readonly<Record<string, string>>;
}

/** Reads which inputs and partials a Handlebars template uses. Faults become findings. */
export function readTemplate({
  template,
  start,
  findings,
  isPartial,
  ...source
}: TemplateSource): TemplateReading {
  const tags = new TagReader(findings, source.declares);
  const reader = new TemplateReader(findings, tags, source.partials);
  const scope = Scope.createRoot(isPartial ? 'other' : 'inputs');
  reader.read(template, {
    scope,
    start,
    file: findings.file,
    inlines: new Set(),
    openPartials: new Set(),
  });
  return { uses: tags.uses, usesAll: tags.usesAll, partials: reader.getPartials() };
}

type Program = hbs.AST.Program | undefined;
type PartialTag = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

/** `{{> @partial-block}}` inserts the content between `{{#> name}}` and its end. */
const PARTIAL_BLOCK = '@partial-block';

/**
 * Maximum number of times that partials are read, once for each context. The inputs that further
 * contexts use are not found.
 */
const MAX_READINGS = 300;

class TemplateReader {
  readonly #findings: Findings;
  readonly #tags: TagReader;
  readonly #findPartial: PartialLookup;
  /** The used partials by name. */
  readonly #partialTexts = new Map<string, string>();
  /** The contexts in which each partial was read. */
  readonly #readings = new Set<string>();
  #partialBytes = 0;
  /** True if a text read so far may define inline partials; the word alone is enough. */
  #hasInlines = false;

  constructor(findings: Findings, tags: TagReader, findPartial: PartialLookup) {
    this.#findings = findings;
    this.#tags = tags;
    this.#findPartial = findPartial;
  }

  getPartials(): Record<string, string> {
    return Object.fromEntries([...this.#partialTexts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  read(text: string, place: TemplatePlace): void {
    this.#hasInlines ||= text.includes('inline');
    const { program, faults } = parseTemplate(text);
    for (const { line, column, problem } of faults) {
      this.#findings.addFault(
        toFilePosition(place, { line, column: column - 1 }),
        problem,
        place.file,
      );
    }

    this.#readProgram(program, place);
  }

  #readProgram(program: Program, place: TemplatePlace): void {
    const body = program?.body ?? [];
    const names = body.map(findInlineName).filter(name => name !== undefined);
    const innerPlace =
      names.length === 0 ? place : { ...place, inlines: new Set([...place.inlines, ...names]) };
    for (const statement of body) this.#readStatement(statement, innerPlace);
  }

  #readStatement(statement: hbs.AST.Statement, place: TemplatePlace): void {
    switch (statement.type) {
      case 'ContentStatement':
      case 'CommentStatement':
        return;
      case 'MustacheStatement':
        return this.#tags.readMustache(statement as hbs.AST.MustacheStatement, place);
      case 'BlockStatement':
        return this.#readBlock(statement as hbs.AST.BlockStatement, place);
      case 'PartialStatement':
      case 'PartialBlockStatement':
        return this.#readPartialTag(statement as PartialTag, place);
      case 'DecoratorBlock':
        return this.#readInline(statement as hbs.AST.DecoratorBlock, place);
      default:
        return this.#tags.addFault(statement, 'the only decorator is {{#*inline "name"}}', place);
    }
  }

  /** Reads a block and its `{{else}}`. */
  #readBlock(block: hbs.AST.BlockStatement, place: TemplatePlace): void {
    const { original: name } = block.path;
    if (isHelperBlock(block)) {
      const isKnown = Object.hasOwn(HELPERS, name) && HELPERS[name]?.isBlock;
      if (isKnown) {
        this.#tags.readCall(block, name, place);
      } else {
        this.#tags.reportWrongHelper(block.path, name, place);
      }
    } else {
      this.#tags.readPath(block.path, place);
    }

    const scope = this.#getInnerScope(block, place.scope).withParams(block.program?.blockParams);
    const innerPlace = { ...place, openPartials: new Set<string>() };
    this.#readProgram(block.program, { ...innerPlace, scope });
    this.#readProgram(block.inverse, innerPlace);
  }

  #getInnerScope(block: hbs.AST.BlockStatement, scope: Scope): Scope {
    if (!isHelperBlock(block)) return scope.enterBlock('maybe-inputs');
    const [param] = block.params;
    switch (block.path.original) {
      case 'each':
        return scope.enterLoop();
      case 'with':
        return param && isPath(param) && scope.getMeaning(param).kind === 'inputs'
          ? scope
          : scope.enterBlock('other');
      default:
        return scope;
    }
  }

  /**
   * Reads `{{> name context key=value}}`, which inserts a partial, and `{{#> name}}…{{/name}}`,
   * which has a fallback.
   */
  #readPartialTag(partial: PartialTag, place: TemplatePlace): void {
    const { name: nameNode, params, hash } = partial;
    const name = 'original' in nameNode ? nameNode.original : undefined;
    if (name === undefined) {
      const message = "a partial's name must be written out: an input can't choose it";
      return this.#tags.addFault(partial, message, place);
    }
    if (name === '__proto__') {
      return this.#tags.addFault(partial, formatUnusableName(name), place);
    }

    for (const value of [...params, ...(hash?.pairs ?? []).map(({ value }) => value)]) {
      if (!isPath(value) || place.scope.getMeaning(value).kind !== 'inputs') {
        this.#tags.readExpression(value, place);
      }
    }

    const isInline = name === PARTIAL_BLOCK || place.inlines.has(name);
    const exists = isInline || this.#readPartial(name, partial, place);

    if (partial.type === 'PartialBlockStatement') {
      return this.#readProgram(partial.program, toUnknownContext(place));
    }

    if (exists) return;

    const baseStart = name.lastIndexOf('/') + 1;
    const file = `${name.slice(0, baseStart)}_${name.slice(baseStart)}.prompt`;
    this.#tags.addFault(
      partial,
      `unknown partial \`${name}\`: it would be the file ${file} beside this one`,
      place,
    );
  }

  /** Reads a partial; returns false if there is none of that name. */
  #readPartial(name: string, tag: PartialTag, place: TemplatePlace): boolean {
    const partial = this.#findPartial(name);
    if (!partial) return false;

    if ('fault' in partial) {
      this.#tags.addFault(tag, partial.fault, place);
      return true;
    }

    // An inline partial of a caller may hide this file, so that it doesn't insert itself.
    if (place.openPartials.has(name) && !this.#hasInlines) {
      const message = `the partial \`${name}\` inserts itself without end: it may do so only inside a block such as {{#if}}`;
      this.#tags.addFault(tag, message, place);
      return true;
    }

    const { file, text } = partial;
    const scope = createPartialScope(tag, place);
    const readingKey = `${name}\n${scope.key}`;
    if (this.#readings.has(readingKey) || this.#readings.size >= MAX_READINGS) return true;

    this.#readings.add(readingKey);

    if (this.#storePartial(name, text)) {
      this.read(text, {
        scope,
        file,
        start: { line: 1, column: 1 },
        inlines: new Set(),
        openPartials: new Set([...place.openPartials, name]),
      });
    }

    return true;
  }

  /** Stores a partial's text; returns false if that would be one partial too many. */
  #storePartial(name: string, text: string): boolean {
    if (this.#partialTexts.has(name)) return true;

    this.#partialBytes += Buffer.byteLength(text);
    const { partials, partialBytes } = BOUNDS;
    if (this.#partialTexts.size >= partials || this.#partialBytes > partialBytes) {
      const message = `the prompt uses more than ${partials} partials or ${partialBytes / 1024} KiB of them`;
      this.#findings.addFault({ line: 1, column: 1 }, message);
      return false;
    }

    this.#partialTexts.set(name, text);
    return true;
  }

  /**
   * Reads an inline partial. Its context is that of the place where it is used, which is unknown
   * here.
   */
  #readInline(block: hbs.AST.DecoratorBlock, place: TemplatePlace): void {
    const name = findInlineName(block);
    if (name === undefined) {
      const message = 'write a partial of this file as {{#*inline "name"}}…{{/inline}}';
      return this.#tags.addFault(block, message, place);
    }
    if (name === '__proto__') {
      return this.#tags.addFault(block, formatUnusableName(name), place);
    }
    this.#readProgram(block.program, toUnknownContext(place));
  }
}

function formatUnusableName(name: string): string {
  return `a partial can't be named \`${name}\``;
}

/** Returns the place inside content that may be rendered in another context, which is not known. */
function toUnknownContext(place: TemplatePlace): TemplatePlace {
  return { ...place, scope: place.scope.enterBlock('maybe-inputs'), openPartials: new Set() };
}

function createPartialScope(
  { params: [param], hash }: PartialTag,
  { scope }: TemplatePlace,
): Scope {
  const args = hash?.pairs.map(({ key }) => key) ?? [];
  const keepsContext =
    param === undefined || (isPath(param) && scope.getMeaning(param).kind === 'inputs');
  return scope.enterPartial(keepsContext ? undefined : 'other', args);
}
