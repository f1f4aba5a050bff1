import { faultAt } from '../../../files/formats/file-fault.ts';
import { findOwnValue, isJsonList, type JsonValue } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';

/** Returns the name of a model with its provider, which is OpenAI unless it is named. */
export function qualifyOpenaiModel(name: string): string {
  return name.includes('/') ? name : `openai/${name}`;
}

/** A message whose content is text. */
export interface TextMessage {
  readonly role: string;
  readonly text: string;
}

/**
 * Returns the messages of a list or a template; undefined if there are none.
 *
 * @throws {FileFault} if one is not text
 */
export function readMessages(
  value: JsonValue | undefined,
  node: YamlValue,
): TextMessage[] | undefined {
  const reference = findOwnValue(value, 'item_reference');
  if (typeof reference === 'string') {
    const reason = `takes its messages from the rows (\`${reference}\`), which a prompt file can't`;
    throw faultAt(node, `\`input_messages\` ${reason}: write them as a template`);
  }

  const messages = findOwnValue(value, 'template') ?? value;
  if (messages === undefined || messages === null) return undefined;

  if (!isJsonList(messages)) {
    throw faultAt(node, '`input_messages` must be a list of messages, or a template with one');
  }

  return messages.map(message => readTextMessage(message, node));
}

function readTextMessage(message: JsonValue, node: YamlValue): TextMessage {
  const role = findOwnValue(message, 'role');
  const content = findOwnValue(message, 'content');
  const parts = isJsonList(content) ? content : [content];
  const texts = parts.map(part => (typeof part === 'string' ? part : findOwnValue(part, 'text')));
  if (typeof role !== 'string' || !texts.every(text => typeof text === 'string')) {
    throw faultAt(node, 'a message needs a `role`, and `content` that is text');
  }

  return { role, text: texts.join('\n') };
}
