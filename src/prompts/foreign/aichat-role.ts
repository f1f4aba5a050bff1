import path from 'node:path';
import type { JsonObject } from '../../files/formats/json.ts';
import { NO_TOOLS_NOTE } from '../parse/front-matter.ts';
import { formatPromptFile, withEndMark } from './file-texts.ts';
import { type ForeignFormat, TOP_OF_FILE } from './foreign-format.ts';
import { noteMatchingLines, readFrontMatterText, readMarkdown } from './markdown.ts';
import type { Piece } from './template-pieces.ts';

/** The placeholder of the input in a role. */
const INPUT_PLACEHOLDER = '__INPUT__';
const INPUT_MARK = '### INPUT:';
const OUTPUT_MARK = '### OUTPUT:';

/** aichat finds front matter after blank lines too. */
const SKIPS_BLANK_LINES = { skipsBlankLines: true };

export function isAichatRole(file: string, text: string): boolean {
  if (!/\.(?:md|markdown)$/iu.test(file)) return false;
  if (path.basename(path.dirname(path.resolve(file))) === 'roles') return true;
  const { frontMatter, body } = readMarkdown(text, SKIPS_BLANK_LINES);
  if (['temperature', 'top_p'].some(key => Object.hasOwn(frontMatter, key))) return true;
  return body.includes(INPUT_PLACEHOLDER) || splitTurns(body).turns.length > 0;
}

export const AICHAT_ROLE: ForeignFormat = {
  name: 'a role of aichat',
  read({ text }, findings) {
    const markdown = readMarkdown(text, SKIPS_BLANK_LINES);
    const { frontMatter: roleFields, body } = markdown;
    noteMatchingLines(
      markdown,
      /\{\{__\w+__\}\}/u,
      findings,
      match => `the variable ${match} is not filled: it is sent as text`,
    );

    if (Object.hasOwn(roleFields, 'use_tools')) {
      findings.addNote({ line: 1, column: 1 }, `\`use_tools\` ${NO_TOOLS_NOTE}`);
    }

    return {
      prompt: formatPromptFile(buildRoleFrontMatter(roleFields), withEndMark(readRoleBody(body))),
      places: TOP_OF_FILE,
    };
  },
};

function readRoleBody(body: string): Piece[] {
  if (body.includes(INPUT_PLACEHOLDER)) {
    const pieces = body
      .split(INPUT_PLACEHOLDER)
      .flatMap((text): Piece[] => [{ input: 'input' }, { text }]);
    return [{ tag: '{{role "user"}}' }, ...pieces.slice(1)];
  }
  const { system, turns } = splitTurns(body);
  return [
    ...(system === '' ? [] : [{ tag: '{{role "system"}}' }, { text: system }]),
    ...turns.flatMap(({ input, output }) => [
      { tag: '{{role "user"}}' },
      { text: input },
      { tag: '{{role "model"}}' },
      { text: output },
    ]),
    { tag: '{{role "user"}}' },
    { input: 'input' },
  ];
}

interface RoleTurn {
  readonly input: string;
  readonly output: string;
}

/**
 * Returns the examples and the text before them. As in aichat, the marks alternate, and a role
 * whose last input has no output has no examples.
 */
function splitTurns(body: string): {
  readonly system: string;
  readonly turns: readonly RoleTurn[];
} {
  const parts: string[] = [];
  let remainder = body;
  let [mark, nextMark] = [INPUT_MARK, OUTPUT_MARK];
  while (remainder.includes(mark)) {
    const index = remainder.indexOf(mark);
    parts.push(remainder.slice(0, index));
    remainder = remainder.slice(index + mark.length);
    [mark, nextMark] = [nextMark, mark];
  }

  const [system = '', ...texts] = remainder === '' ? parts : [...parts, remainder];
  if (texts.length === 0 || texts.length % 2 === 1) return { system: body, turns: [] };

  const trimmedTexts = texts.map(text => text.trim());
  const turns = trimmedTexts.flatMap((input, index) =>
    index % 2 === 0 ? [{ input, output: trimmedTexts[index + 1] ?? '' }] : [],
  );
  return { system: system.trim(), turns };
}

/**
 * Returns the front matter of the prompt file. aichat names models `client:model`, and calls its
 * client for Anthropic `claude`.
 */
function buildRoleFrontMatter(roleFields: JsonObject): JsonObject {
  const model = readFrontMatterText(roleFields, 'model')
    ?.replace(':', '/')
    .replace(/^claude\//u, 'anthropic/');
  const { temperature, top_p: topP } = roleFields;
  const config: JsonObject = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  };

  return {
    ...(model !== undefined && { model }),
    ...(Object.keys(config).length > 0 && { config }),
  };
}
