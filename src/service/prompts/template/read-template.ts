import type { Place } from '../../files/yaml-file.ts';
import type { Findings } from '../findings.ts';
import { parseTemplate } from './parse.ts';
import { PartialLibrary } from './partial-library.ts';
import { Scope } from './scope.ts';
import {
  HELPERS,
  isHelperBlock,
  isPath,
  isText,
  isValueTag,
  type PartialLookup,
  pathOf,
  roleNamed,
} from './syntax.ts';

/** How a template uses an input. */
export interface FieldUse extends Place {
  readonly key: string;
  /** Whether it is placed as a picture. */
  readonly isPicture: boolean;
  /** The file it stands in: the prompt's or a partial's. */
  readonly file: string;
  /** Inside a block like `{{#name}}` only the value of `name` decides whose field it is. */
  readonly certain: boolean;
}

export interface TemplateSource {
  readonly template: string;
  /** Where the template begins in its file. */
  readonly start: Place;
  readonly findings: Findings;
  /** Whether the schema declares an input of this name. */
  readonly declares: (key: string) => boolean;
  readonly partials: PartialLookup;
  /** Whether it is a partial read by itself, of whose `this` nothing is known. */
  readonly isPartial: boolean;
}

export interface TemplateReading {
  /** Every use of every input, in order of appearance. */
  readonly uses: readonly FieldUse[];
  /** The texts of the partials it uses, those of partials included, by name. */
  readonly partials: Readonly<Record<string, string>>;
}

/** Reads a Handlebars template: what it uses. Everything that is wrong with it becomes a finding. */
export function readTemplate({
  template,
  start,
  findings,
  isPartial,
  ...source
}: TemplateSource): TemplateReading {
  const library = new PartialLibrary(source.partials, findings);
  const reader = new TemplateReader(findings, source.declares, library);
  const scope = Scope.root(isPartial ? 'other' : 'inputs');
  reader.read(template, { scope, start, file: findings.file, inlines: new Set() });
  return { uses: reader.uses, partials: library.texts() };
}

/** A place of a template, and what names mean there. */
interface Here {
  readonly scope: Scope;
  /** The file that is being read: the prompt's or a partial's. */
  readonly file: string;
  /** Where the text begins in that file. */
  readonly start: Place;
  /** Names of inline partials that are known here. */
  readonly inlines: ReadonlySet<string>;
}

type Program = hbs.AST.Program | undefined;
type Call = hbs.AST.MustacheStatement | hbs.AST.SubExpression | hbs.AST.BlockStatement;
type PartialTag = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

/** `{{> @partial-block}}` is what stands between `{{#> name}}` and its end. */
const PARTIAL_BLOCK = '@partial-block';

class TemplateReader {
  readonly uses: FieldUse[] = [];
  readonly #findings: Findings;
  readonly #declares: (key: string) => boolean;
  readonly #partials: PartialLibrary;

  constructor(findings: Findings, declares: (key: string) => boolean, partials: PartialLibrary) {
    this.#findings = findings;
    this.#declares = declares;
    this.#partials = partials;
  }

  read(text: string, here: Here): void {
    const { program, faults } = parseTemplate(text);
    for (const { line, column, what } of faults) {
      this.#findings.fault(placeIn(here, { line, column: column - 1 }), what, here.file);
    }
    this.#program(program, here);
  }

  #fault(node: hbs.AST.Node, message: string, here: Here): void {
    this.#findings.fault(placeIn(here, node.loc.start), message, here.file);
  }

  #note(node: hbs.AST.Node, message: string, here: Here): void {
    this.#findings.note(placeIn(here, node.loc.start), message, here.file);
  }

  #program(program: Program, here: Here): void {
    const body = program?.body ?? [];
    const names = body.map(inlineName).filter(name => name !== undefined);
    const inside = names.length === 0 ? here : { ...here, inlines: new Set([...here.inlines, ...names]) };
    for (const statement of body) this.#statement(statement, inside);
  }

  #statement(statement: hbs.AST.Statement, here: Here): void {
    switch (statement.type) {
      case 'ContentStatement':
      case 'CommentStatement':
        return;
      case 'MustacheStatement':
        return this.#mustache(statement as hbs.AST.MustacheStatement, here);
      case 'BlockStatement':
        return this.#block(statement as hbs.AST.BlockStatement, here);
      case 'PartialStatement':
      case 'PartialBlockStatement':
        return this.#partial(statement as PartialTag, here);
      case 'DecoratorBlock':
        return this.#inline(statement as hbs.AST.DecoratorBlock, here);
      default:
        return this.#fault(statement, 'the only decorator there is is {{#*inline "name"}}', here);
    }
  }

  #mustache(statement: hbs.AST.MustacheStatement, here: Here): void {
    const name = pathOf(statement.path).original;
    if (isValueTag(statement, this.#declares)) return this.#path(pathOf(statement.path), here);
    if (name === 'media') return this.#media(statement, here);
    const [param] = statement.params;
    if (name === 'role' && !(isText(param) && roleNamed(param.value) && statement.params.length === 1)) {
      const what = 'a role is written {{role "system"}}, {{role "user"}} or {{role "model"}}';
      return this.#fault(statement, what, here);
    }
    if (Object.hasOwn(HELPERS, name) && !HELPERS[name]?.block) this.#call(statement, name, here);
    else this.#unknownHelper(pathOf(statement.path), name, here);
  }

  #media(statement: hbs.AST.MustacheStatement, here: Here): void {
    const pair = (name: string): hbs.AST.Expression | undefined =>
      statement.hash?.pairs.find(({ key }) => key === name)?.value;
    const [url, contentType] = [pair('url'), pair('contentType')];
    if (!url || statement.params.length > 0) {
      const what = 'a picture is written {{media url=field}}, where `field` names the input';
      return this.#fault(statement, what, here);
    }
    if (!isPath(url) || here.scope.meaning(url).kind !== 'input') {
      const what =
        'a run takes pictures from inputs of their own, as in {{media url=field}}, and `data:` URLs';
      this.#note(url, what, here);
    }
    this.#expression(url, here, true);
    if (contentType) this.#expression(contentType, here);
  }

  /** A helper with its values. */
  #call({ params, hash, ...call }: Call, name: string, here: Here): void {
    const values = HELPERS[name]?.values ?? 0;
    if (values < Number.POSITIVE_INFINITY && params.length !== values) {
      const words = ['no value', 'one value', 'two values'][values] ?? '';
      return this.#fault(call, `\`${name}\` takes ${words}`, here);
    }
    for (const param of params) this.#expression(param, here);
    for (const { value } of hash?.pairs ?? []) this.#expression(value, here);
  }

  #unknownHelper(node: hbs.AST.Node, name: string, here: Here): void {
    const names = Object.keys(HELPERS);
    const known = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
    this.#fault(node, `the helper \`${name}\` is not known: there are ${known}`, here);
  }

  #expression(expression: hbs.AST.Expression, here: Here, isPicture = false): void {
    if (isPath(expression)) return this.#path(expression, here, isPicture);
    if (expression.type !== 'SubExpression') return;
    const call = expression as hbs.AST.SubExpression;
    const name = isPath(call.path) ? call.path.original : '';
    // Every other helper writes something.
    if (name === 'lookup' || name === 'json') this.#call(call, name, here);
    else this.#unknownHelper(call.path, name, here);
  }

  #path(path: hbs.AST.PathExpression, here: Here, isPicture = false): void {
    const meaning = here.scope.meaning(path);
    if (meaning.kind === 'input') {
      const { key, certain, whole } = meaning;
      const { line, column } = placeIn(here, path.loc.start);
      this.uses.push({ key, line, column, file: here.file, certain, isPicture: isPicture && whole });
    }
    if (meaning.kind === 'data' && !meaning.isKnown) {
      this.#note(path, `\`${path.original}\` has no value here: a run knows no such variable`, here);
    }
    if (meaning.kind === 'nowhere') {
      this.#note(path, `\`${path.original}\` leads out of the template, so it has no value`, here);
    }
  }

  /** A block and its `{{else}}`. */
  #block(block: hbs.AST.BlockStatement, here: Here): void {
    const { original: name } = block.path;
    if (isHelperBlock(block)) {
      if (!HELPERS[name]?.block || !Object.hasOwn(HELPERS, name)) this.#unknownHelper(block.path, name, here);
      else this.#call(block, name, here);
    } else {
      this.#path(block.path, here);
    }
    const scope = this.#scopeInside(block, here.scope).withParams(block.program?.blockParams);
    this.#program(block.program, { ...here, scope });
    this.#program(block.inverse, here);
  }

  #scopeInside(block: hbs.AST.BlockStatement, scope: Scope): Scope {
    if (!isHelperBlock(block)) return scope.within('perhaps');
    const [param] = block.params;
    switch (block.path.original) {
      case 'each':
        return scope.inLoop();
      case 'with':
        return param && isPath(param) && scope.meaning(param).kind === 'inputs'
          ? scope
          : scope.within('other');
      default:
        return scope;
    }
  }

  /** `{{> name context key=value}}` puts another file in; `{{#> name}}…{{/name}}` has what stands in for it. */
  #partial(partial: PartialTag, here: Here): void {
    const { name: written, params, hash } = partial;
    const name = 'original' in written ? written.original : undefined;
    if (name === undefined || name === '__proto__') {
      const what = 'the name of a partial is written out: no input can choose it';
      return this.#fault(partial, name === undefined ? what : `a partial can’t be named \`${name}\``, here);
    }
    for (const value of [...params, ...(hash?.pairs ?? []).map(({ value }) => value)]) {
      if (!isPath(value) || here.scope.meaning(value).kind !== 'inputs') this.#expression(value, here);
    }
    const isHere = name === PARTIAL_BLOCK || here.inlines.has(name);
    const isThere = isHere || this.#readPartial(name, scopeOf(partial, here));
    if (partial.type === 'PartialBlockStatement') {
      return this.#program(partial.program, { ...here, scope: here.scope.within('perhaps') });
    }
    if (isThere) return;
    const at = name.lastIndexOf('/') + 1;
    const file = `${name.slice(0, at)}_${name.slice(at)}.prompt`;
    this.#fault(
      partial,
      `there is no partial \`${name}\`: it would be the file ${file} beside this one`,
      here,
    );
  }

  /** False if there is no such partial. */
  #readPartial(name: string, scope: Scope): boolean {
    const partial = this.#partials.find(name);
    if (!partial) return false;
    const { file, text } = partial;
    const isNew = this.#partials.take(name, text, scope.key);
    if (isNew) this.read(text, { scope, file, start: { line: 1, column: 1 }, inlines: new Set() });
    return true;
  }

  /** What is inside has the context of the place it is used at, of which nothing is known here. */
  #inline(block: hbs.AST.DecoratorBlock, here: Here): void {
    const name = inlineName(block);
    if (name === undefined || name === '__proto__') {
      const what = 'a partial of this file is written {{#*inline "name"}}…{{/inline}}';
      return this.#fault(block, name === undefined ? what : `a partial can’t be named \`${name}\``, here);
    }
    this.#program(block.program, { ...here, scope: here.scope.within('perhaps') });
  }
}

function inlineName(statement: hbs.AST.Statement): string | undefined {
  if (statement.type !== 'DecoratorBlock') return undefined;
  const { path, params } = statement as hbs.AST.DecoratorBlock;
  const [name] = params;
  return path.original === 'inline' && isText(name) ? name.value : undefined;
}

function scopeOf({ params: [param], hash }: PartialTag, { scope }: Here): Scope {
  const args = hash?.pairs.map(({ key }) => key) ?? [];
  const isHere = param === undefined || (isPath(param) && scope.meaning(param).kind === 'inputs');
  return scope.inPartial(isHere ? undefined : 'other', args);
}

/** Lines of a template are counted from its own beginning; people count from the file's. */
function placeIn({ start }: Here, { line, column }: Place): Place {
  return { line: line + start.line - 1, column: column + (line === 1 ? start.column : 1) };
}
