import type { Findings } from '../findings.ts';
import { type TemplatePlace, toFilePosition } from './scope.ts';
import {
  type FieldUse,
  findRole,
  HELPERS,
  isPath,
  isStringLiteral,
  isValueTag,
  toTagPath,
} from './syntax.ts';

type TagCall = hbs.AST.MustacheStatement | hbs.AST.SubExpression | hbs.AST.BlockStatement;

/** Reads single tags: the inputs that they use, and their faults. */
export class TagReader {
  readonly uses: FieldUse[] = [];
  /** True if a tag takes all inputs at once, such as `{{json this}}`. */
  usesAll = false;
  readonly #findings: Findings;
  readonly #declares: (key: string) => boolean;

  constructor(findings: Findings, declares: (key: string) => boolean) {
    this.#findings = findings;
    this.#declares = declares;
  }

  addFault(node: hbs.AST.Node, message: string, place: TemplatePlace): void {
    this.#findings.addFault(toFilePosition(place, node.loc.start), message, place.file);
  }

  addNote(node: hbs.AST.Node, message: string, place: TemplatePlace): void {
    this.#findings.addNote(toFilePosition(place, node.loc.start), message, place.file);
  }

  readMustache(statement: hbs.AST.MustacheStatement, place: TemplatePlace): void {
    const name = toTagPath(statement.path).original;

    if (isValueTag(statement, this.#declares)) {
      return this.readPath(toTagPath(statement.path), place);
    }

    if (name === 'media') return this.#readMedia(statement, place);

    if (name === 'role' && !namesRole(statement)) {
      const message = 'write a role as {{role "system"}}, {{role "user"}} or {{role "model"}}';
      return this.addFault(statement, message, place);
    }

    if (Object.hasOwn(HELPERS, name) && !HELPERS[name]?.isBlock) {
      this.readCall(statement, name, place);
    } else {
      this.reportWrongHelper(toTagPath(statement.path), name, place);
    }
  }

  readCall({ params, hash, ...call }: TagCall, name: string, place: TemplatePlace): void {
    const valueCount = HELPERS[name]?.valueCount ?? 0;
    if (valueCount < Number.POSITIVE_INFINITY && params.length !== valueCount) {
      const expectedValues = ['no value', 'one value', 'two values'][valueCount] ?? '';
      return this.addFault(call, `\`${name}\` takes ${expectedValues}`, place);
    }
    for (const param of params) this.readExpression(param, place);
    for (const { value } of hash?.pairs ?? []) this.readExpression(value, place);
  }

  /** Reports a call of a helper that doesn't exist, or that is written in another way. */
  reportWrongHelper(node: hbs.AST.Node, name: string, place: TemplatePlace): void {
    const helper = Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
    if (helper) {
      const form = `{{${helper.isBlock ? '#' : ''}${name} …}}`;
      return this.addFault(
        node,
        `the helper \`${name}\` is not called in this way: write ${form}`,
        place,
      );
    }

    const names = Object.keys(HELPERS);
    const helperNames = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
    this.addFault(node, `the helper \`${name}\` is not known: there are ${helperNames}`, place);
  }

  readExpression(
    expression: hbs.AST.Expression,
    place: TemplatePlace,
    { isImage = false } = {},
  ): void {
    if (isPath(expression)) return this.readPath(expression, place, { isImage });
    if (expression.type !== 'SubExpression') return;

    const call = expression as hbs.AST.SubExpression;
    const name = isPath(call.path) ? call.path.original : '';

    // Every other helper writes text.
    if (name === 'lookup' || name === 'json') {
      this.readCall(call, name, place);
    } else {
      this.reportWrongHelper(call.path, name, place);
    }
  }

  readPath(path: hbs.AST.PathExpression, place: TemplatePlace, { isImage = false } = {}): void {
    const meaning = place.scope.getMeaning(path);
    if (meaning.kind === 'input') {
      const { key, isCertain, isWhole } = meaning;
      const { line, column } = toFilePosition(place, path.loc.start);
      this.uses.push({
        key,
        line,
        column,
        file: place.file,
        isCertain,
        isImage: isImage && isWhole,
      });
    }

    if (meaning.kind === 'inputs') this.usesAll = true;

    if (meaning.kind === 'data' && !meaning.isKnown) {
      this.addNote(path, `\`${path.original}\` has no value: runs have no such variable`, place);
    }

    if (meaning.kind === 'nowhere') {
      this.addNote(
        path,
        `\`${path.original}\` leads out of the template, so it has no value`,
        place,
      );
    }
  }

  #readMedia(statement: hbs.AST.MustacheStatement, place: TemplatePlace): void {
    const findArgument = (name: string): hbs.AST.Expression | undefined =>
      statement.hash?.pairs.find(({ key }) => key === name)?.value;
    const [url, contentType] = [findArgument('url'), findArgument('contentType')];
    if (!url || statement.params.length > 0) {
      const message = 'write a picture as {{media url=field}}, where `field` names the input';
      return this.addFault(statement, message, place);
    }

    if (!isPath(url) || place.scope.getMeaning(url).kind !== 'input') {
      const message =
        'a run takes pictures from inputs of their own, as in {{media url=field}}, and `data:` URLs';
      this.addNote(url, message, place);
    }

    this.readExpression(url, place, { isImage: true });
    if (contentType) this.readExpression(contentType, place);
  }
}

/** Returns true for a tag such as `{{role "system"}}`. */
function namesRole({ params }: hbs.AST.MustacheStatement): boolean {
  const [role] = params;
  return params.length === 1 && isStringLiteral(role) && findRole(role.value) !== undefined;
}
