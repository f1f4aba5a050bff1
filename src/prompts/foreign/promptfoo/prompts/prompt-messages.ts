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
import { splitBlocks, splitNunjucks, TAG } from '../nunjucks/split-nunjucks.ts';
import { BeyondPromptFile, type ConfiguredPrompt, countLineEnds } from './configured-prompt.ts';

/** Matches a tag other than `{{name}}`, such as `{{ a.b }}` and `{% if name %}`. */
const OTHER_TAG = /\{\{(?![ \t]*[A-Za-z_]\w*[ \t]*\}\})|\{%|\{#/u;

/** Matches the beginning of a chat: `[{` in JSON, `- role:` in YAML. */
const BEGINS_AS_CHAT = /^\s*(?:\[\s*\{|-\s+(?:role|content)\s*:)/u;

const ONLY_PLACEHOLDERS =
  'only `{{name}}` and `{{ name }}` of Nunjucks have an equivalent: write the rest as a Handlebars template';

/**
 * Returns the JSON that promptfoo reads a prompt as, and puts variables into as they are; undefined
 * for any other text.
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

/** Matches a variable that Nunjucks writes as JSON. */
const DUMPED_VARIABLE = /\{\{\s*([A-Za-z_]\w*)\s*\|\s*dump\s*(?:\|\s*safe\s*)?\}\}/gu;

/**
 * Returns a JSON chat with whole values such as `{{ name | dump }}` replaced by texts; undefined
 * for any other text.
 */
export function parseDumpedChat(
  text: string,
): { readonly text: string; readonly names: string[] } | undefined {
  const quoted = text.replaceAll(DUMPED_VARIABLE, '"{{$1}}"');
  if (quoted === text || !isJsonList(parseJson(quoted))) return undefined;
  return { text: quoted, names: [...text.matchAll(DUMPED_VARIABLE)].map(([, name = '']) => name) };
}

/** The way promptfoo reads a prompt. */
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
export function parsePromptMessages(
  { place, text, fault }: Omit<ConfiguredPrompt, 'label'>,
  { json, takesBlocks = false, template }: PromptReading = {},
): Piece[] {
  if (fault !== undefined) throw faultAt(place, fault);

  const isRendered = template !== undefined;
  const chat = isRendered ? parseRenderedChat(text, template, place) : parseChat(text, place);
  const splitContent = (part: string): Piece[] =>
    isRendered ? [{ text: part }] : splitText(part, place);

  if (!chat) {
    if (isRendered) return splitContent(text);
    const blocks = takesBlocks && json === undefined ? splitBlocks(text) : undefined;
    if (blocks) return blocks;
    const pieces = splitText(json === undefined ? text : JSON.stringify(json, undefined, 2), place);
    if (json === undefined || !pieces.some(piece => 'input' in piece)) return pieces;
    throw new BeyondPromptFile(
      place,
      'a variable within JSON that is not a chat has no equivalent',
    );
  }

  return chat.flatMap(message => {
    const [role, content] = [findOwnValue(message, 'role'), findOwnValue(message, 'content')];
    const name = typeof role === 'string' ? findChatRole(role) : undefined;
    if (name === undefined) {
      const what = `the role of a message is system, developer, user or assistant, not ${JSON.stringify(role)}`;
      throw faultAt(place, what);
    }

    if (typeof content !== 'string') throw faultAt(place, 'the content of a message must be text');
    return [{ tag: `{{role "${name}"}}` }, ...splitContent(content)];
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
  const trimmed = text.trim();
  if (trimmed.startsWith('- role:')) return parseChat(text, place);

  const json = parseJson(text);
  if (
    json === undefined &&
    /\brole\b/u.test(template) &&
    /^(?:\[[^]*\]|\{[^]*\})$/u.test(trimmed)
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
    if (!BEGINS_AS_CHAT.test(text)) return undefined;
    // The value of a variable may be JSON.
    throw TAG.test(text) ? new BeyondPromptFile(place, ONLY_PLACEHOLDERS) : error;
  }

  if (!isJsonList(chat) || chat.length === 0) return undefined;
  return chat.every(message => isJsonObject(message) && 'role' in message) ? chat : undefined;
}

function splitText(text: string, place: SourcePlace): Piece[] {
  const { pieces, isPlain } = splitNunjucks(text);
  if (isPlain) return pieces;
  const before = text.slice(0, text.search(OTHER_TAG));
  throw new BeyondPromptFile(
    { ...place, line: place.line + countLineEnds(before) },
    ONLY_PLACEHOLDERS,
  );
}
