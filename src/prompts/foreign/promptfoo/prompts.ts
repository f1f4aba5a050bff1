import path from 'node:path';
import { FileFault, faultAt } from '../../../files/file-fault.ts';
import { isJsonList, type JsonValue, ownValue, parseJson } from '../../../files/json.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { PYTHON } from '../python.ts';
import { chatRole, type Piece } from '../template-pieces.ts';
import { type Conversion, type KnownKeys, type Located, type SourceText, valuesByKey } from './conversion.ts';
import { commandWords, isUnreadable, NEEDS_TYPES } from './program-files.ts';
import { NODE_PROMPT_FUNCTION, NODE_PROMPT_PROGRAM, PYTHON_PROMPT } from './programs.ts';
import type { PromptNames } from './prompt-references.ts';
import { splitBlocks, splitNunjucks, TAG } from './template.ts';

/** A prompt of a configuration, read only if it is the chosen one. */
export interface PromptText extends PromptNames {
  readonly at: Located;
  readonly text: string;
  /** Why it can't be expressed, regardless of its text. */
  readonly fault?: string;
  /** The settings that go with it, in place of the providers' own. */
  readonly config?: YamlValue | undefined;
  /** The program that makes it from a case's variables on standard input. */
  readonly program?: readonly [string, ...string[]];
  /** True if the program reads the label of its provider. */
  readonly readsLabel?: boolean;
}

/** A prompt that a prompt file can't express, but Nunjucks can render. */
export class BeyondPromptFile extends FileFault {
  constructor({ file, line, column }: Located, what: string) {
    super(line, what, column, file);
  }
}

const PROMPT_PROGRAM = /\.(?:[cm]?[jt]s|py|rb|go|sh)(?::[\w.]+)?$/iu;
/** Matches a file of JavaScript, TypeScript or Python, with the name of a function. */
const FUNCTION = /^(?:file:\/\/)?(?<file>[^*?]*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;
const PROMPT_FILE = /\.(?:txt|json|jsonl|ya?ml|md|j2|njk|[cm]?[jt]s|py)(?::[\w.]+)?$/iu;

const PROMPT_KEYS: KnownKeys = {
  known: ['raw', 'id', 'label', 'description', 'display'],
  unsupported: ['config', 'function'],
};

/** Returns all prompts in order. Splits text files at `---`. */
export function readAllPrompts(node: YamlValue, conversion: Conversion): PromptText[] {
  if (isJsonList(node.json())) {
    return withoutRepeated(node.items('prompts')).flatMap(item => readPrompts(item, conversion));
  }
  const labels = node.isMap ? valuesByKey(node, 'prompts') : undefined;
  if (!labels || labels.has('raw') || labels.has('id')) return readPrompts(node, conversion);
  // `{file.txt: label}`
  return [...labels].flatMap(([name, label]) =>
    promptsNamed(name, label, conversion, { label: label.scalar }),
  );
}

/** Drops texts and names of files that repeat an earlier one: promptfoo asks them once. */
function withoutRepeated(items: readonly YamlValue[]): YamlValue[] {
  const known = new Set<string>();
  return items.filter(({ scalar }) => {
    if (scalar === undefined) return true;
    const text = scalar.startsWith('file://') ? `file://${path.posix.normalize(scalar.slice(7))}` : scalar;
    return known.size < known.add(text).size;
  });
}

function readPrompts(item: YamlValue, conversion: Conversion): PromptText[] {
  const { scalar } = item;
  if (scalar !== undefined) return promptsNamed(scalar, item, conversion);
  const entries = valuesByKey(item, 'a prompt');
  const [raw, id] = [entries.get('raw'), entries.get('id')];
  const [only] = entries;
  // Older configurations write `{file.txt: label}`.
  if (entries.size === 1 && only && !raw && !id) {
    return promptsNamed(only[0], item, conversion, { label: only[1].scalar });
  }
  const known = [...PROMPT_KEYS.known, ...(conversion.isForTest ? ['config'] : [])];
  conversion.noteKeys(entries, { ...PROMPT_KEYS, known }, ' of a prompt');
  const text = raw ?? id;
  if (!text) throw faultAt(item, 'a prompt needs `raw` or `id`');
  const config = conversion.isForTest ? entries.get('config') : undefined;
  const names = { label: entries.get('label')?.scalar, id: id?.scalar };
  const prompts = promptsNamed(text.text(raw ? 'raw' : 'id'), text, conversion, names);
  return config ? prompts.map(prompt => ({ ...prompt, config })) : prompts;
}

/** Returns the prompts in a text, or in the files that it names. Without a label, promptfoo makes one from them. */
function promptsNamed(
  written: string,
  at: Located,
  conversion: Conversion,
  { label, id }: { readonly [Name in keyof PromptNames]?: string | undefined } = {},
): PromptText[] {
  const place = path.posix.normalize(written.replace(/^file:\/\//u, ''));
  const refused = (fault: string): PromptText[] => [{ at, text: '', fault, label: label ?? place }];
  const isFile = written.startsWith('file://') || (looksLikeFile(written) && conversion.has(written));
  if (conversion.isForTest) {
    const program = programPrompt(written, at, conversion);
    if (program) return [{ ...program, label: label ?? place }];
  }
  if (isFilePattern(written, isFile)) {
    const files = conversion.matching(written, at);
    if (files.length === 0) return refused(`${written} names no file`);
    return files.flatMap(file => promptsNamed(`file://${file}`, at, conversion));
  }
  if ((isFile || looksLikeFile(written)) && PROMPT_PROGRAM.test(written)) {
    return refused(`the prompt ${written} is a program: a prompt file can't be one`);
  }
  if (/^(?:exec|python|package|langfuse|portkey|helicone):/u.test(written)) {
    return refused(`the prompt ${written} is kept elsewhere: write it into the configuration`);
  }
  if (!isFile) return [{ at, text: written, label: label ?? written, id }];
  return promptsInFile(conversion.read(written, at), { place, label }, conversion);
}

/** The name of a prompt's file, and its label if it has one. */
interface FileNames {
  readonly place: string;
  readonly label: string | undefined;
}

function promptsInFile(
  { text, file }: SourceText,
  { place, label }: FileNames,
  { isForTest }: Conversion,
): PromptText[] {
  const start = { file, line: 1, column: 1 };
  if (/\.csv$/iu.test(file)) {
    return [{ at: start, text: '', fault: 'a table of prompts has no equivalent', label: label ?? place }];
  }
  if (/\.jsonl$/iu.test(file)) return promptsInLines(text, start, label ?? place);
  const whole = label ?? `${place}: ${text}`;
  if (isForTest && /\.(?:md|j2)$/iu.test(file)) return [{ at: start, text, label: whole }];
  if (!/\.txt$/iu.test(file)) return [{ at: start, text: text.trim(), label: whole }];
  return promptsInSections({ text, file }, { place, label });
}

/** Returns the prompts of a file that has one in each line. */
function promptsInLines(text: string, start: Located, name: string): PromptText[] {
  const lines = text.split('\n').map((line, index) => ({ at: { ...start, line: index + 1 }, text: line }));
  const filled = lines.filter(line => line.text.trim() !== '');
  return filled.map(line => ({ ...line, label: filled.length > 1 ? `${name}: ${line.text}` : name }));
}

/** Returns the prompts of a text file, between lines of `---`. */
function promptsInSections({ text, file }: SourceText, { place, label }: FileNames): PromptText[] {
  const prompts: PromptText[] = [];
  let line = 1;
  for (const section of text.split(/^[ \t]*---[ \t]*$/mu)) {
    const first = line + linesIn(section.slice(0, section.search(/\S|$/u)));
    const trimmed = section.trim();
    if (trimmed !== '') {
      const name = `${place}: ${trimmed}`;
      prompts.push({
        at: { file, line: first, column: 1 },
        text: trimmed,
        label: label === undefined ? name : `${label}: ${name}`,
      });
    }
    line += linesIn(section);
  }
  return prompts;
}

/** Returns a prompt that a program makes; undefined if no program makes it. */
function programPrompt(
  written: string,
  at: Located,
  conversion: Conversion,
): Omit<PromptText, 'label'> | undefined {
  const { directory } = conversion;
  if (written.startsWith('exec:')) {
    const words = commandWords(written.slice('exec:'.length));
    return { at, text: '', program: ['node', '-e', NODE_PROMPT_PROGRAM, directory, ...words] };
  }
  const { groups } = FUNCTION.exec(written) ?? {};
  const [file = '', name = ''] = [groups?.['file'], groups?.['name']];
  if (file === '' || /\s/u.test(written)) return undefined;
  const { text: code } = conversion.read(file, at);
  if (isUnreadable(file, conversion)) {
    return { at, text: '', fault: `the prompt ${written} is TypeScript, which ${NEEDS_TYPES}` };
  }
  const other = code.replaceAll(READS_LABEL, '');
  if (conversion.isForTest && READS_PROVIDER.test(other)) {
    return { at, text: '', fault: `the prompt ${written} depends on its provider, which has no equivalent` };
  }
  const program = file.endsWith('.py')
    ? ([PYTHON, '-c', PYTHON_PROMPT, directory, file, name] as const)
    : (['node', '-e', NODE_PROMPT_FUNCTION, directory, file, name] as const);
  return { at, text: '', program, readsLabel: other !== code };
}

/** Matches code that reads the label of a prompt's provider. */
const READS_LABEL =
  /\bprovider\b\s*\??\.\s*label\b|["']provider["'](?:\]|, *\{\}\)|\))(?:\[|\.get\()["']label["']/gu;

/** Matches code that reads the provider of a prompt. */
const READS_PROVIDER = /\bprovider\b\s*(?:\?\.|\.|\[)|["']provider["']/u;

/** Returns true if a text is a pattern of files, such as `prompts/*.txt`. */
function isFilePattern(written: string, isFile: boolean): boolean {
  return /[*?]/u.test(written) && (isFile || /^[^\s{}]+\.\w+$/u.test(written));
}

/** Counts the line ends in a text. */
function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

function looksLikeFile(written: string): boolean {
  return !written.includes('\n') && PROMPT_FILE.test(written);
}

/** Returns the JSON that promptfoo reads a prompt as, and puts variables into as they are; undefined for any other text. */
export function jsonOf({ at, text }: PromptText, conversion: Conversion): JsonValue | undefined {
  const isYamlFile = conversion.ownLine(at) === undefined && /\.ya?ml$/iu.test(at.file ?? '');
  if (!isYamlFile) return parseJson(text);
  try {
    return parseYaml(text).json();
  } catch (error) {
    if (error instanceof FileFault) return undefined;
    throw error;
  }
}

/** Matches a variable that Nunjucks writes as JSON. */
const DUMPED = /\{\{\s*([A-Za-z_]\w*)\s*\|\s*dump\s*(?:\|\s*safe\s*)?\}\}/gu;

/** Returns a chat in JSON, of which variables are whole values, as `{{ name | dump }}`, with them as texts; undefined for others. */
export function dumpedChat(text: string): { readonly text: string; readonly names: string[] } | undefined {
  const quoted = text.replaceAll(DUMPED, '"{{$1}}"');
  if (quoted === text || !isJsonList(parseJson(quoted))) return undefined;
  return { text: quoted, names: [...text.matchAll(DUMPED)].map(([, name = '']) => name) };
}

/** How promptfoo reads a prompt. */
interface PromptReading {
  /** The JSON that it reads it as, which it writes over lines. */
  readonly json?: JsonValue | undefined;
  /** True to express blocks of Nunjucks as tags; default false. */
  readonly takesBlocks?: boolean;
  /** The template that Nunjucks has rendered to the text, if it has. */
  readonly template?: string | undefined;
}

/**
 * Returns a prompt as messages of a template.
 *
 * @throws {FileFault} if a prompt file can't express it
 */
export function promptMessages(
  { at, text, fault }: Omit<PromptText, 'label'>,
  { json, takesBlocks = false, template }: PromptReading = {},
): Piece[] {
  if (fault !== undefined) throw faultAt(at, fault);
  const isRendered = template !== undefined;
  const chat = isRendered ? parseRendered(text, template, at) : parseChat(text, at);
  const split = (part: string): Piece[] => (isRendered ? [{ text: part }] : splitText(part, at));
  if (!chat) {
    if (isRendered) return split(text);
    const blocks = takesBlocks && json === undefined ? splitBlocks(text) : undefined;
    if (blocks) return blocks;
    const pieces = splitText(json === undefined ? text : JSON.stringify(json, undefined, 2), at);
    if (json === undefined || !pieces.some(piece => 'input' in piece)) return pieces;
    throw new BeyondPromptFile(at, 'a variable within JSON that is not a chat has no equivalent');
  }
  return chat.flatMap(message => {
    const [role, content] = [ownValue(message, 'role'), ownValue(message, 'content')];
    const name = typeof role === 'string' ? chatRole(role) : undefined;
    if (name === undefined) {
      const what = `the role of a message is system, developer, user or assistant, not ${JSON.stringify(role)}`;
      throw faultAt(at, what);
    }
    if (typeof content !== 'string') throw faultAt(at, 'the content of a message must be text');
    return [{ tag: `{{role "${name}"}}` }, ...split(content)];
  });
}

/** Returns the messages of a rendered chat, which promptfoo reads as JSON, or as YAML that begins with a role. */
function parseRendered(text: string, template: string, at: Located): readonly JsonValue[] | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('- role:')) return parseChat(text, at);
  const json = parseJson(text);
  if (json === undefined && /\brole\b/u.test(template) && /^(?:\[[^]*\]|\{[^]*\})$/u.test(trimmed)) {
    throw faultAt(at, 'the rendered prompt is not JSON, although it begins and ends like it');
  }
  const isChat = isJsonList(json) && json.every(message => isJsonObject(message) && 'role' in message);
  return isChat && json.length > 0 ? json : undefined;
}

/** Returns the messages of a chat in JSON or YAML; undefined for any other text, which is the user's message. */
function parseChat(text: string, at: Located): readonly JsonValue[] | undefined {
  if (!/\brole\b/u.test(text)) return undefined;
  let chat: JsonValue;
  try {
    chat = parseYaml(text, at.line, at.file).json();
  } catch (error) {
    // Text that is not YAML is a message, unless it begins like a chat.
    if (!BEGINS_AS_CHAT.test(text)) return undefined;
    // The value of a variable may be JSON.
    throw TAG.test(text) ? new BeyondPromptFile(at, BEYOND) : error;
  }
  if (!isJsonList(chat) || chat.length === 0) return undefined;
  return chat.every(message => isJsonObject(message) && 'role' in message) ? chat : undefined;
}

const BEGINS_AS_CHAT = /^\s*(?:\[\s*\{|-\s+(?:role|content)\s*:)/u;

const BEYOND =
  'only `{{name}}` and `{{ name }}` of Nunjucks have an equivalent: write the rest as a template of ours';

function splitText(text: string, at: Located): Piece[] {
  const { pieces, isPlain } = splitNunjucks(text);
  if (isPlain) return pieces;
  const before = text.slice(0, text.search(/\{\{(?![ \t]*[A-Za-z_]\w*[ \t]*\}\})|\{%|\{#/u));
  throw new BeyondPromptFile({ ...at, line: at.line + linesIn(before) }, BEYOND);
}
