import path from 'node:path';
import { faultAt } from '../../../../files/formats/file-fault.ts';
import { isJsonList } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext, KnownKeys } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { type SourcePlace, type SourceText, withoutFileScheme } from '../files/source-files.ts';
import { type ConfiguredPrompt, countLineEnds } from './configured-prompt.ts';
import { findProgramPrompt } from './program-prompt.ts';
import type { PromptNames } from './prompt-references.ts';

/**
 * Matches the name of a program, which may be followed by that of a function, as in `a.py:make`.
 */
const PROMPT_PROGRAM = /\.(?:[cm]?[jt]s|py|rb|go|sh)(?::[\w.]+)?$/iu;

/** Matches the name of a file that promptfoo reads a prompt from, even without `file://`. */
const PROMPT_FILE = /\.(?:txt|json|jsonl|ya?ml|md|j2|njk|[cm]?[jt]s|py)(?::[\w.]+)?$/iu;

/** Matches a prompt that comes from a program or a service, such as `langfuse:greeting`. */
const EXTERNAL_PROMPT = /^(?:exec|python|package|langfuse|portkey|helicone):/u;

const PROMPT_KEYS: KnownKeys = {
  supported: ['raw', 'id', 'label', 'description', 'display'],
  unsupported: ['config', 'function'],
};

/** Returns all prompts in order. Splits text files at `---`. */
export function readPrompts(node: YamlValue, conversion: ConversionContext): ConfiguredPrompt[] {
  if (isJsonList(node.toJson())) {
    return withoutRepetitions(node.readItems('prompts')).flatMap(item =>
      readListedPrompt(item, conversion),
    );
  }

  const labels = node.isMap ? readMergedValues(node, 'prompts') : undefined;
  if (!labels || labels.has('raw') || labels.has('id')) return readListedPrompt(node, conversion);
  // The labels of files, as in `{file.txt: label}`.
  return [...labels].flatMap(([name, label]) =>
    readNamedPrompts(name, label, conversion, { label: label.scalar }),
  );
}

/** Drops texts and names of files that repeat an earlier one, because promptfoo asks each once. */
function withoutRepetitions(items: readonly YamlValue[]): YamlValue[] {
  const earlierTexts = new Set<string>();
  return items.filter(({ scalar }) => {
    if (scalar === undefined) return true;
    const text = scalar.startsWith('file://')
      ? `file://${path.posix.normalize(withoutFileScheme(scalar))}`
      : scalar;
    const isFirst = !earlierTexts.has(text);
    earlierTexts.add(text);
    return isFirst;
  });
}

function readListedPrompt(item: YamlValue, conversion: ConversionContext): ConfiguredPrompt[] {
  const { scalar } = item;
  if (scalar !== undefined) return readNamedPrompts(scalar, item, conversion);

  const entries = readMergedValues(item, 'a prompt');
  const [raw, id] = [entries.get('raw'), entries.get('id')];
  const [onlyEntry] = entries;

  // Older configurations write `{file.txt: label}`.
  const isLabelled = entries.size === 1 && !raw && !id;
  if (isLabelled && onlyEntry) {
    return readNamedPrompts(onlyEntry[0], item, conversion, { label: onlyEntry[1].scalar });
  }

  const supportedKeys = [...PROMPT_KEYS.supported, ...(conversion.isForTest ? ['config'] : [])];
  conversion.reportKeys(
    entries,
    { ...PROMPT_KEYS, supported: supportedKeys },
    { owner: 'a prompt' },
  );
  const text = raw ?? id;
  if (!text) throw faultAt(item, 'a prompt needs `raw` or `id`');

  const config = conversion.isForTest ? entries.get('config') : undefined;
  const names = { label: entries.get('label')?.scalar, id: id?.scalar };
  const prompts = readNamedPrompts(text.readText(raw ? 'raw' : 'id'), text, conversion, names);
  return config ? prompts.map(prompt => ({ ...prompt, config })) : prompts;
}

/**
 * Returns the prompts in a text, or in the files that it names. Without a label, promptfoo makes
 * one from them.
 */
function readNamedPrompts(
  promptText: string,
  place: SourcePlace,
  conversion: ConversionContext,
  { label, id }: { readonly [Name in keyof PromptNames]?: string | undefined } = {},
): ConfiguredPrompt[] {
  const fileName = path.posix.normalize(withoutFileScheme(promptText));
  const labelOrFileName = label ?? fileName;
  const isFile =
    promptText.startsWith('file://') ||
    (looksLikeFile(promptText) && conversion.files.hasFile(promptText));
  const programPrompt = conversion.isForTest
    ? findProgramPrompt(promptText, place, conversion)
    : undefined;
  if (programPrompt) return [{ place, text: '', ...programPrompt, label: labelOrFileName }];

  if (isFilePattern(promptText, { isFile })) {
    const files = conversion.files.listMatching(promptText, place);
    if (files.length > 0) {
      return files.flatMap(file => readNamedPrompts(`file://${file}`, place, conversion));
    }
    return [{ place, text: '', fault: `${promptText} names no file`, label: labelOrFileName }];
  }

  const fault = findPromptFileFault(promptText, { isFile });
  if (fault !== undefined) return [{ place, text: '', fault, label: labelOrFileName }];
  if (!isFile) return [{ place, text: promptText, label: label ?? promptText, id }];
  return parsePromptsFile(
    conversion.files.read(promptText, place),
    { fileName, label },
    conversion,
  );
}

/** The way in which the text of a prompt is read. */
interface PromptTextKind {
  /** True if the text of a prompt names a file. */
  readonly isFile: boolean;
}

/** Explains why a prompt that is written so can't be converted; undefined if it can. */
function findPromptFileFault(promptText: string, { isFile }: PromptTextKind): string | undefined {
  if ((isFile || looksLikeFile(promptText)) && PROMPT_PROGRAM.test(promptText)) {
    return `the prompt ${promptText} is a program: a prompt file can't be one`;
  }
  return EXTERNAL_PROMPT.test(promptText)
    ? `the prompt ${promptText} is kept elsewhere: write it into the configuration`
    : undefined;
}

/** The name of a prompt's file, and its label if it has one. */
interface FileNames {
  readonly fileName: string;
  readonly label: string | undefined;
}

/** Returns the prompts of a file, which the ending of its name decides. */
function parsePromptsFile(
  { text, file }: SourceText,
  { fileName, label }: FileNames,
  { isForTest }: ConversionContext,
): ConfiguredPrompt[] {
  const start = { file, line: 1, column: 1 };
  if (/\.csv$/iu.test(file)) {
    return [
      {
        place: start,
        text: '',
        fault: 'a table of prompts has no equivalent',
        label: label ?? fileName,
      },
    ];
  }

  if (/\.jsonl$/iu.test(file)) return parsePromptLines(text, start, label ?? fileName);

  const wholeLabel = label ?? `${fileName}: ${text}`;
  if (isForTest && /\.(?:md|j2)$/iu.test(file)) return [{ place: start, text, label: wholeLabel }];
  if (!/\.txt$/iu.test(file)) return [{ place: start, text: text.trim(), label: wholeLabel }];
  return parsePromptSections({ text, file }, { fileName, label });
}

/** Returns the prompts of a file that has one in each line. */
function parsePromptLines(text: string, start: SourcePlace, name: string): ConfiguredPrompt[] {
  const lines = text
    .split('\n')
    .map((line, index) => ({ place: { ...start, line: index + 1 }, text: line }));
  const filledLines = lines.filter(line => line.text.trim() !== '');
  return filledLines.map(line => ({
    ...line,
    label: filledLines.length > 1 ? `${name}: ${line.text}` : name,
  }));
}

/** Returns the prompts of a text file, between lines of `---`. */
function parsePromptSections(
  { text, file }: SourceText,
  { fileName, label }: FileNames,
): ConfiguredPrompt[] {
  const prompts: ConfiguredPrompt[] = [];
  let line = 1;
  for (const section of text.split(/^[ \t]*---[ \t]*$/mu)) {
    const firstLine = line + countLineEnds(section.slice(0, section.search(/\S|$/u)));
    const sectionText = section.trim();
    if (sectionText !== '') {
      const name = `${fileName}: ${sectionText}`;
      prompts.push({
        place: { file, line: firstLine, column: 1 },
        text: sectionText,
        label: label === undefined ? name : `${label}: ${name}`,
      });
    }

    line += countLineEnds(section);
  }

  return prompts;
}

/** Returns true if a text is a pattern of files, such as `prompts/*.txt`. */
function isFilePattern(promptText: string, { isFile }: PromptTextKind): boolean {
  return /[*?]/u.test(promptText) && (isFile || /^[^\s{}]+\.\w+$/u.test(promptText));
}

function looksLikeFile(promptText: string): boolean {
  return !promptText.includes('\n') && PROMPT_FILE.test(promptText);
}
