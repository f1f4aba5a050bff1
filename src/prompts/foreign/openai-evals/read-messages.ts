import { faultAt } from '../../../files/formats/file-fault.ts';
import { findOwnValue, isJsonList, type JsonValue } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';

/** Returns a model's name with its provider. */
export function addOpenaiProvider(name: string): string {
  return name.includes('/') ? name : `openai/${name}`;
}

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
  at: YamlValue,
): TextMessage[] | undefined {
  const messagesValue = findOwnValue(value, 'template') ?? value;
  const reference = findOwnValue(value, 'item_reference');
  if (typeof reference === 'string') {
    const what = `takes its messages from the rows (\`${reference}\`), which a prompt file can't`;
    throw faultAt(at, `\`input_messages\` ${what}: write them as a template`);
  }

  if (messagesValue === undefined || messagesValue === null) return undefined;

  if (!isJsonList(messagesValue)) {
    throw faultAt(at, '`input_messages` must be a list of messages, or a template with one');
  }

  return messagesValue.map(message => {
    const [role, content] = [findOwnValue(message, 'role'), findOwnValue(message, 'content')];
    const texts = (isJsonList(content) ? content : [content]).map(part =>
      typeof part === 'string' ? part : findOwnValue(part, 'text'),
    );
    if (typeof role !== 'string' || !texts.every(text => typeof text === 'string')) {
      throw faultAt(at, 'a message needs a `role`, and `content` that is text');
    }

    return { role, text: texts.join('\n') };
  });
}
