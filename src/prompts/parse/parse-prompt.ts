import { type FilePosition, withoutFile } from '../../files/formats/file-fault.ts';
import {
  findOwnValue,
  type JsonObject,
  type JsonValue,
  withoutUndefined,
} from '../../files/formats/json.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { BOUNDS } from '../bounds.ts';
import { type PromptDefinition, type PromptPlaces, toConfigFields } from '../definition.ts';
import { Findings, toPromptFileError } from '../findings.ts';
import { findSlugFault, getFileSlug, isPartialFile } from '../slug.ts';
import { readTemplate, type TemplateReading } from '../template/read-template.ts';
import type { PartialLookup } from '../template/syntax.ts';
import { type FrontMatter, type LocatedValue, readFrontMatter } from './front-matter.ts';
import { isJinja } from './jinja.ts';
import { checkOption } from './option-values.ts';
import { sortInputs } from './prompt-inputs.ts';
import { type PromptSource, splitSource, toTemplateSource } from './prompt-source.ts';

/** The model of a prompt that doesn't name one. */
const DEFAULT_MODEL = 'echo';

export interface ParseOptions {
  readonly partials?: PartialLookup;
  readonly schemas?: Readonly<Record<string, JsonObject>>;
}

/** The parts of a prompt file that could be parsed, and its findings. */
export interface ParsedPrompt {
  readonly findings: Findings;
  /**
   * Undefined if the file is too large, has the character NUL, or its front matter and template
   * can't be separated.
   */
  readonly definition: PromptDefinition | undefined;
}

/**
 * Parses a prompt file: YAML front matter and a Handlebars template.
 *
 * @throws {InvalidPromptFileError} if it has a fault
 */
export function parsePromptFile(
  text: string,
  file: string,
  options: ParseOptions = {},
): PromptDefinition {
  const { findings, definition } = parsePrompt(text, file, options);
  if (findings.hasFaults || !definition) throw toPromptFileError(findings);
  return definition;
}

/** Parses like `parsePromptFile`, but returns all findings instead of throwing. */
export function parsePrompt(text: string, file: string, options: ParseOptions = {}): ParsedPrompt {
  const findings = new Findings(file);
  if (Buffer.byteLength(text) > BOUNDS.fileBytes) {
    findings.addFault(
      { line: 1, column: 1 },
      `the file is larger than ${BOUNDS.fileBytes / 1024} KiB`,
    );
    return { findings, definition: undefined };
  }

  checkFileName(file, findings);
  if (reportNulCharacter(text, findings)) return { findings, definition: undefined };

  return {
    findings,
    definition: findings.attempt(() =>
      parseDefinition(text, file, findings, { ...options, reportsUnused: true }),
    ),
  };
}

/** Reports a file name that can't be a slug. */
function checkFileName(file: string, findings: Findings): void {
  const fault = isPartialFile(file) ? undefined : findSlugFault(file);
  if (fault !== undefined) findings.addFault({ line: 1, column: 1 }, fault);
}

/** Reports the character NUL, which no template can hold. Returns true if the text has it. */
export function reportNulCharacter(text: string, findings: Findings): boolean {
  const nulIndex = text.indexOf('\0');
  if (nulIndex < 0) return false;

  findings.addFault(
    positionAt(text, nulIndex, { line: 1, column: 1 }),
    "the character NUL (U+0000) can't be part of a prompt: remove it, or save the file as UTF-8",
  );
  return true;
}

/**
 * Parses a text that is known to be a prompt file.
 *
 * @throws {FileFault} if its front matter is not closed
 */
export function parseDefinition(
  text: string,
  file: string,
  findings: Findings,
  { partials, schemas, reportsUnused = false }: ParseOptions & { readonly reportsUnused?: boolean },
): PromptDefinition {
  const isPartial = isPartialFile(file);
  const source = isPartial ? toTemplateSource(text) : splitSource(text);
  const frontMatter = readFrontMatter(source, findings, schemas);
  const templateReading = readSourceTemplate(source, frontMatter, {
    findings,
    partials,
    isPartial,
  });
  noteJinja(source, findings);

  if (reportsUnused && frontMatter.isReadable && !isPartial) {
    noteUnused(source, frontMatter, templateReading, findings);
  }

  for (const [key, { value, place }] of frontMatter.config) {
    checkOption(key, value, place, findings);
  }

  const slug = getFileSlug(file);
  const uses = frontMatter.isReadable ? templateReading.uses : [];

  return {
    slug,
    title: frontMatter.title ?? slug,
    description: frontMatter.description ?? '',
    model: frontMatter.model ?? DEFAULT_MODEL,
    namesModel: frontMatter.model !== undefined,
    ...readConfigFields(frontMatter),
    ...sortInputs(frontMatter, uses, findings),
    input: toInput(frontMatter),
    output: frontMatter.output,
    ext: frontMatter.ext,
    frontMatter: frontMatter.allFields,
    source: source.source,
    partials: templateReading.partials,
    template: source.template,
    places: toPlaces(frontMatter),
  };
}

interface TemplateOptions {
  readonly findings: Findings;
  readonly partials: PartialLookup | undefined;
  /** True if the file is a partial. */
  readonly isPartial: boolean;
}

function readSourceTemplate(
  { template, start }: PromptSource,
  { inputSchema }: FrontMatter,
  { findings, partials = () => undefined, isPartial }: TemplateOptions,
): TemplateReading {
  const properties = findOwnValue(inputSchema, 'properties');
  return readTemplate({
    template,
    start,
    findings,
    declares: key => findOwnValue(properties, key) !== undefined,
    partials,
    isPartial,
  });
}

/** Notes tags of Jinja, which Handlebars leaves unchanged. */
function noteJinja({ template, start }: PromptSource, findings: Findings): void {
  const lines = template.split('\n');
  const lineIndex = lines.findIndex(isJinja);
  if (lineIndex < 0) return;

  const lineStart = lines.slice(0, lineIndex).reduce((sum, line) => sum + line.length + 1, 0);
  findings.addNote(
    positionAt(template, template.indexOf('{%', lineStart), start),
    'this looks like Jinja and is sent unchanged: write {{#if name}} or {{#each list}}',
  );
}

/** Returns the position of an index in a text that starts at this position of a file. */
function positionAt(text: string, index: number, start: FilePosition): FilePosition {
  const linesBefore = text.slice(0, index).split('\n');
  const isFirstLine = linesBefore.length === 1;
  return {
    line: start.line + linesBefore.length - 1,
    column: (linesBefore.at(-1)?.length ?? 0) + (isFirstLine ? start.column : 1),
  };
}

/** Matches an input in single braces, such as `{name}`, as Python formats text. */
const SINGLE_BRACE_NAME = /(?<![\w{$\\])\{(?<name>[a-z_]\w*)\}(?!\})/giu;

/**
 * Notes inputs that the template does not use, and names in single braces, which are probably meant
 * as inputs.
 */
function noteUnused(
  { template, start }: PromptSource,
  { inputSchema, getFieldPlace }: FrontMatter,
  { uses, usesAll }: TemplateReading,
  findings: Findings,
): void {
  if (usesAll || findings.hasFaults) return;

  const properties = findOwnValue(inputSchema, 'properties');
  const usedNames = new Set(uses.map(({ key }) => key));
  const unusedNames = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
  for (const name of usedNames) unusedNames.delete(name);

  for (const { index, groups: { name = '' } = {} } of template.matchAll(SINGLE_BRACE_NAME)) {
    const isDeclared = unusedNames.delete(name);
    // Without declared or used inputs, only the first name is noted: the others may be examples.
    const isLikelyInput = inputSchema === undefined && usedNames.size === 0;
    if (!isDeclared && !isLikelyInput) continue;

    const place = positionAt(template, index, start);
    findings.addNote(place, `\`{${name}}\` is sent unchanged: write {{${name}}} for the input`);
    usedNames.add(name);
  }

  for (const name of unusedNames) {
    findings.addNote(getFieldPlace(name), `the template does not use the input \`${name}\``);
  }
}

function readConfigFields({
  config,
}: FrontMatter): Pick<PromptDefinition, 'config' | 'runOptions'> {
  return toConfigFields(Object.fromEntries([...config].map(([key, { value }]) => [key, value])));
}

function toInput({ inputSchema, defaults }: FrontMatter): PromptDefinition['input'] {
  const values = [...defaults].map(([key, { value }]): [string, JsonValue] => [key, value]);
  return withoutUndefined({
    schema: inputSchema,
    default: values.length > 0 ? Object.fromEntries(values) : undefined,
  });
}

function toPlaces({ modelPlace, config, defaults, outputPlace }: FrontMatter): PromptPlaces {
  const toPositions = (
    values: ReadonlyMap<string, LocatedValue<JsonValue>>,
  ): Record<string, FilePosition> =>
    Object.fromEntries([...values].map(([key, { place }]) => [key, withoutFile(place)]));

  return {
    model: withoutFile(modelPlace),
    output: withoutFile(outputPlace),
    config: toPositions(config),
    defaults: toPositions(defaults),
  };
}
