import path from 'node:path';
import { faultAt } from '../../../files/formats/file-fault.ts';
import { isJsonList } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { PYTHON } from '../python.ts';
import { type Conversion, type KnownKeys, valuesByKey } from './conversion.ts';
import { commandWords, isUnreadable, NEEDS_TYPES } from './program-files.ts';
import { NODE_PROMPT_FUNCTION, NODE_PROMPT_PROGRAM, PYTHON_PROMPT } from './programs/prompt-programs.ts';
import type { PromptNames } from './prompt-references.ts';
import { linesIn, type PromptText } from './prompt-text.ts';
import type { Located, SourceText } from './source-files.ts';

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
  const knownTexts = new Set<string>();
  return items.filter(({ scalar }) => {
    if (scalar === undefined) return true;
    const text = scalar.startsWith('file://') ? `file://${path.posix.normalize(scalar.slice(7))}` : scalar;
    return knownTexts.size < knownTexts.add(text).size;
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
  promptText: string,
  at: Located,
  conversion: Conversion,
  { label, id }: { readonly [Name in keyof PromptNames]?: string | undefined } = {},
): PromptText[] {
  const place = path.posix.normalize(promptText.replace(/^file:\/\//u, ''));
  const refusedPrompts = (fault: string): PromptText[] => [{ at, text: '', fault, label: label ?? place }];
  const isFile =
    promptText.startsWith('file://') || (looksLikeFile(promptText) && conversion.files.has(promptText));
  if (conversion.isForTest) {
    const program = programPrompt(promptText, at, conversion);
    if (program) return [{ ...program, label: label ?? place }];
  }
  if (isFilePattern(promptText, isFile)) {
    const files = conversion.files.matching(promptText, at);
    if (files.length === 0) return refusedPrompts(`${promptText} names no file`);
    return files.flatMap(file => promptsNamed(`file://${file}`, at, conversion));
  }
  if ((isFile || looksLikeFile(promptText)) && PROMPT_PROGRAM.test(promptText)) {
    return refusedPrompts(`the prompt ${promptText} is a program: a prompt file can't be one`);
  }
  if (/^(?:exec|python|package|langfuse|portkey|helicone):/u.test(promptText)) {
    return refusedPrompts(`the prompt ${promptText} is kept elsewhere: write it into the configuration`);
  }
  if (!isFile) return [{ at, text: promptText, label: label ?? promptText, id }];
  return promptsInFile(conversion.files.read(promptText, at), { place, label }, conversion);
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
  const filledLines = lines.filter(line => line.text.trim() !== '');
  return filledLines.map(line => ({
    ...line,
    label: filledLines.length > 1 ? `${name}: ${line.text}` : name,
  }));
}

/** Returns the prompts of a text file, between lines of `---`. */
function promptsInSections({ text, file }: SourceText, { place, label }: FileNames): PromptText[] {
  const prompts: PromptText[] = [];
  let line = 1;
  for (const section of text.split(/^[ \t]*---[ \t]*$/mu)) {
    const firstLine = line + linesIn(section.slice(0, section.search(/\S|$/u)));
    const sectionText = section.trim();
    if (sectionText !== '') {
      const name = `${place}: ${sectionText}`;
      prompts.push({
        at: { file, line: firstLine, column: 1 },
        text: sectionText,
        label: label === undefined ? name : `${label}: ${name}`,
      });
    }
    line += linesIn(section);
  }
  return prompts;
}

/** Returns a prompt that a program makes; undefined if no program makes it. */
function programPrompt(
  promptText: string,
  at: Located,
  conversion: Conversion,
): Omit<PromptText, 'label'> | undefined {
  const { directory } = conversion;
  if (promptText.startsWith('exec:')) {
    const words = commandWords(promptText.slice('exec:'.length));
    return { at, text: '', program: ['node', '-e', NODE_PROMPT_PROGRAM, directory, ...words] };
  }
  const { groups } = FUNCTION.exec(promptText) ?? {};
  const [file = '', name = ''] = [groups?.['file'], groups?.['name']];
  if (file === '' || /\s/u.test(promptText)) return undefined;
  const { text: code } = conversion.files.read(file, at);
  if (isUnreadable(file, conversion)) {
    return { at, text: '', fault: `the prompt ${promptText} is TypeScript, which ${NEEDS_TYPES}` };
  }
  const otherCode = code.replaceAll(READS_LABEL, '');
  if (conversion.isForTest && READS_PROVIDER.test(otherCode)) {
    return {
      at,
      text: '',
      fault: `the prompt ${promptText} depends on its provider, which has no equivalent`,
    };
  }
  const program = file.endsWith('.py')
    ? ([PYTHON, '-c', PYTHON_PROMPT, directory, file, name] as const)
    : (['node', '-e', NODE_PROMPT_FUNCTION, directory, file, name] as const);
  return { at, text: '', program, readsLabel: otherCode !== code };
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

function looksLikeFile(written: string): boolean {
  return !written.includes('\n') && PROMPT_FILE.test(written);
}
