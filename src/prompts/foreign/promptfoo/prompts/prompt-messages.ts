import { FileFault, faultAt } from '../../../../files/formats/file-fault.ts';
import {
  findOwnValue,
  isJsonList,
  type JsonValue,
  parseJson,
} from '../../../../files/formats/json.ts';
import { parseYaml } from '../../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { findChatRole, type Piece } from '../../template-pieces.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { SourcePlace } from '../files/source-files.ts';
import { NUNJUCKS_TAG, splitBlocks, splitNunjucks } from '../nunjucks/split-nunjucks.ts';
import {
  type ConfiguredPrompt,
  countLineEnds,
  UnsupportedPromptFault,
} from './configured-prompt.ts';

/** Matches a tag other than `{{name}}`, such as `{{ a.b }}` and `{% if name %}`. */
const OTHER_TAG = /\{\{(?![ \t]*[A-Za-z_]\w*[ \t]*\}\})|\{%|\{#/u;

/** Matches the beginning of a chat: `[{` in JSON, `- role:` in YAML. */
const CHAT_START = /^\s*(?:\[\s*\{|-\s+(?:role|content)\s*:)/u;

/** Matches a variable that Nunjucks writes as JSON. */
const DUMPED_VARIABLE = /\{\{\s*([A-Za-z_]\w*)\s*\|\s*dump\s*(?:\|\s*safe\s*)?\}\}/gu;

/** The message on a prompt with other tags of Nunjucks. */
const ONLY_PLACEHOLDERS_MESSAGE =
  'only `{{name}}` and `{{ name }}` of Nunjucks have an equivalent: write the rest as a Handlebars template';

/**
 * Returns a prompt that promptfoo reads as JSON, into which it puts variables as they are;
 * undefined for any other text.
 */
export function readPromptJson(
  { place, text }: ConfiguredPrompt,
  conversion: ConversionContext,
): JsonValue | undefined {
  const isYamlFile =
    conversion.findConfigurationLine(place) === undefined && /\.ya?ml$/iu.test(place.file ?? '');
  if (!isYamlFile) return parseJson(text);
  try {
    return parseYaml(text).toJson();
  } catch (error) {
    if (error instanceof FileFault) return undefined;
    throw error;
  }
}

/**
 * Returns a JSON chat with whole values such as `{{ name | dump }}` replaced by texts; undefined
 * for any other text.
 */
export function parseDumpedChat(
  text: string,
): { readonly text: string; readonly names: string[] } | undefined {
  const textWithQuotes = text.replaceAll(DUMPED_VARIABLE, '"{{$1}}"');
  if (textWithQuotes === text || !isJsonList(parseJson(textWithQuotes))) return undefined;
  return {
    text: textWithQuotes,
    names: [...text.matchAll(DUMPED_VARIABLE)].map(([, name = '']) => name),
  };
}

/** The way promptfoo reads a prompt. */
interface PromptReading {
  /** The JSON as which it reads the prompt, and which it writes with line breaks. */
  readonly json?: JsonValue | undefined;
  /** True to express blocks of Nunjucks as tags; default false. */
  readonly convertsBlocks?: boolean;
  /** The template that Nunjucks has rendered to the text, if it has. */
  readonly template?: string | undefined;
}

/**
 * Returns a prompt as messages of a template.
 *
 * @throws {FileFault} if a prompt file can't express it
 */
export function parsePromptMessages(
  { place, text, fault }: Omit<ConfiguredPrompt, 'label'>,
  { json, convertsBlocks = false, template }: PromptReading = {},
): Piece[] {
  if (fault !== undefined) throw faultAt(place, fault);

  const isRendered = template !== undefined;
  const chat = isRendered ? parseRenderedChat(text, template, place) : parseChat(text, place);
  const splitContent = (part: string): Piece[] =>
    isRendered ? [{ text: part }] : splitText(part, place);

  if (!chat) {
    if (isRendered) return splitContent(text);
    const blocks = convertsBlocks && json === undefined ? splitBlocks(text) : undefined;
    if (blocks) return blocks;
    const pieces = splitText(json === undefined ? text : JSON.stringify(json, undefined, 2), place);
    if (json === undefined || !pieces.some(piece => 'input' in piece)) return pieces;
    throw new UnsupportedPromptFault(
      place,
      'a variable within JSON that is not a chat has no equivalent',
    );
  }

  return chat.flatMap(chatMessage => {
    const role = findOwnValue(chatMessage, 'role');
    const content = findOwnValue(chatMessage, 'content');
    const chatRole = typeof role === 'string' ? findChatRole(role) : undefined;
    if (chatRole === undefined) {
      const message = `the role of a message is system, developer, user or assistant, not ${JSON.stringify(role)}`;
      throw faultAt(place, message);
    }

    if (typeof content !== 'string') throw faultAt(place, 'the content of a message must be text');
    return [{ tag: `{{role "${chatRole}"}}` }, ...splitContent(content)];
  });
}

/**
 * Returns the messages of a rendered chat, which promptfoo reads as JSON, or as YAML that begins
 * with a role.
 */
function parseRenderedChat(
  text: string,
  template: string,
  place: SourcePlace,
): readonly JsonValue[] | undefined {
  const trimmedText = text.trim();
  if (trimmedText.startsWith('- role:')) return parseChat(text, place);

  const json = parseJson(text);
  if (
    json === undefined &&
    /\brole\b/u.test(template) &&
    /^(?:\[[^]*\]|\{[^]*\})$/u.test(trimmedText)
  ) {
    throw faultAt(place, 'the rendered prompt is not JSON, although it begins and ends like it');
  }

  const isChat =
    isJsonList(json) && json.every(message => isJsonObject(message) && 'role' in message);
  return isChat && json.length > 0 ? json : undefined;
}

/**
 * Returns the messages of a chat in JSON or YAML; undefined for any other text, which is the user's
 * message.
 */
function parseChat(text: string, place: SourcePlace): readonly JsonValue[] | undefined {
  if (!/\brole\b/u.test(text)) return undefined;

  let chat: JsonValue;
  try {
    chat = parseYaml(text, place.line, place.file).toJson();
  } catch (error) {
    // Text that is not YAML is a message, unless it begins like a chat.
    if (!CHAT_START.test(text)) return undefined;
    // With the value of its variables, the text may be JSON.
    throw NUNJUCKS_TAG.test(text)
      ? new UnsupportedPromptFault(place, ONLY_PLACEHOLDERS_MESSAGE)
      : error;
  }

  if (!isJsonList(chat) || chat.length === 0) return undefined;
  return chat.every(message => isJsonObject(message) && 'role' in message) ? chat : undefined;
}

/** Splits a text at its placeholders. @throws {UnsupportedPromptFault} if it has other tags */
function splitText(text: string, place: SourcePlace): Piece[] {
  const { pieces, isPlain } = splitNunjucks(text);
  if (isPlain) return pieces;
  const textBeforeTag = text.slice(0, text.search(OTHER_TAG));
  throw new UnsupportedPromptFault(
    { ...place, line: place.line + countLineEnds(textBeforeTag) },
    ONLY_PLACEHOLDERS_MESSAGE,
  );
}
