import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  withoutUndefined,
} from '../../files/formats/json.ts';
import type { Findings } from '../findings.ts';
import { formatPromptFile, withEndMark } from './file-texts.ts';
import { type ForeignFormat, TOP_OF_FILE } from './foreign-format.ts';
import {
  type Markdown,
  noteMatchingLines,
  readFrontMatterText,
  readMarkdown,
  reportMissingText,
} from './markdown.ts';
import type { Piece } from './template-pieces.ts';

/** Keys of front matter that show a command. */
const COMMAND_KEYS = ['description', 'argument-hint', 'allowed-tools', 'model'];

/** Matches the arguments together or one of them by number: `$ARGUMENTS`, `$1`. */
const PLACEHOLDER = /\$ARGUMENTS\b|\$[1-9](?!\d)/u;

/** Matches a command whose output Claude Code would insert, such as !`git status`. */
const EXECUTED_COMMAND = /!`[^`]+`/u;

/** Matches a file whose content Claude Code would insert, such as `@src/main.ts`. */
const INSERTED_FILE = /(?<![\w`@./])@(?=[\w./~-]*[./])[\w~./-]*[\w~/]/u;

/** Appended to a command that has no place for its arguments, as in Claude Code. */
const APPENDED_ARGUMENTS: readonly Piece[] = [
  { tag: '{{#if arguments}}' },
  { text: '\n\nARGUMENTS: ' },
  { input: 'arguments' },
  { tag: '{{/if}}' },
];

/** Returns true if a file is a command of Claude Code, Codex or a similar tool. */
export function isMarkdownCommand(file: string, text: string): boolean {
  if (!/\.(?:md|markdown)$/iu.test(file)) return false;
  const { frontMatter, body } = readMarkdown(text);
  return COMMAND_KEYS.some(key => Object.hasOwn(frontMatter, key)) || PLACEHOLDER.test(body);
}

/** A command of Claude Code, Codex or a similar tool: a message with arguments. */
export const MARKDOWN_COMMAND: ForeignFormat = {
  name: 'a Markdown command',
  read({ text }, findings) {
    const markdown = readMarkdown(text);
    const { frontMatter: commandFields, body } = markdown;
    reportMissingText(markdown, findings);
    noteUnexecutedParts(markdown, findings);
    const { pieces, usesArguments } = splitAtArguments(
      body,
      readArgumentNames(commandFields['arguments']),
      {
        isZeroBased: hasZeroBasedArguments(markdown),
      },
    );

    const model = readFrontMatterText(commandFields, 'model');
    const frontMatter: JsonObject = withoutUndefined({
      description: readFrontMatterText(commandFields, 'description'),
      model: model === 'inherit' ? undefined : model,
    });

    if (pieces.every(piece => 'text' in piece)) {
      const body = [...pieces, ...APPENDED_ARGUMENTS];
      return {
        prompt: formatPromptFile(frontMatter, body, { optional: ['arguments'] }),
        places: TOP_OF_FILE,
      };
    }

    const usedInputs = usesArguments ? ['arguments'] : [];
    return {
      prompt: formatPromptFile(frontMatter, withEndMark(pieces), { usedInTags: usedInputs }),
      places: TOP_OF_FILE,
    };
  },
};

function noteUnexecutedParts(markdown: Markdown, findings: Findings): void {
  noteMatchingLines(
    markdown,
    EXECUTED_COMMAND,
    findings,
    match => `the command ${match} is not carried out: it is sent as text`,
  );
  noteMatchingLines(
    markdown,
    INSERTED_FILE,
    findings,
    match => `the file ${match} is not read: its name is sent as text`,
  );
}

/**
 * Returns true if arguments count from 0: only Claude Code has `$0`, `$ARGUMENTS[0]` and named
 * arguments.
 */
function hasZeroBasedArguments({ frontMatter, body }: Markdown): boolean {
  return Object.hasOwn(frontMatter, 'arguments') || /\$0(?!\d)|\$ARGUMENTS\[\d+\]/u.test(body);
}

/** Returns names from a list, or from the words of a text. */
function readArgumentNames(value: JsonValue | undefined): string[] {
  const items = isJsonList(value) ? value : [];
  const names = typeof value === 'string' ? value.split(/[\s,]+/u) : items;
  return names.filter(
    (name): name is string => typeof name === 'string' && /^[A-Za-z_][\w-]*$/u.test(name),
  );
}

interface ArgumentNumbering {
  /** True if the first argument is `$0`, not `$1`. */
  readonly isZeroBased: boolean;
}

function splitAtArguments(
  body: string,
  names: readonly string[],
  { isZeroBased }: ArgumentNumbering,
): { pieces: Piece[]; usesArguments: boolean } {
  const namePatterns = names
    .toSorted((a, b) => b.length - a.length)
    .map(name => `\\$${name}(?![\\w-])`);
  const placeholder = new RegExp(
    [
      String.raw`\$ARGUMENTS\[\d+\]`,
      String.raw`\$ARGUMENTS\b`,
      String.raw`\$\d(?!\d)`,
      ...namePatterns,
    ].join('|'),
    'gu',
  );

  const pieces: Piece[] = [];
  let textStart = 0;
  for (const { 0: placeholderText, index } of body.matchAll(placeholder)) {
    if (placeholderText === '$0' && !isZeroBased) continue;
    pieces.push(
      { text: body.slice(textStart, index) },
      toArgumentPiece(placeholderText, { isZeroBased }),
    );
    textStart = index + placeholderText.length;
  }

  pieces.push({ text: body.slice(textStart) });
  const usesArguments = pieces.some(piece => 'tag' in piece);
  return { pieces: pieces.filter(piece => !('text' in piece) || piece.text !== ''), usesArguments };
}

function toArgumentPiece(placeholderText: string, { isZeroBased }: ArgumentNumbering): Piece {
  if (placeholderText === '$ARGUMENTS') return { input: 'arguments' };
  const [, digits] = /^\$(?:ARGUMENTS\[)?(\d+)\]?$/u.exec(placeholderText) ?? [];
  if (digits === undefined) return { input: placeholderText.slice(1) };
  return { tag: `{{word arguments ${isZeroBased ? digits : Number(digits) - 1}}}` };
}
