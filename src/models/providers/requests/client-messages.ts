import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Message } from '../../../prompts/render/render-prompt.ts';
import { joinMessageText } from '../../engine.ts';

/**
 * Returns the messages of a prompt in the clients' format.
 *
 * @param instruction text to add to the system message
 * @param systemFirst true if system messages must come before all others
 */
export function buildClientMessages(
  messages: readonly Message[],
  {
    instruction,
    systemFirst = false,
  }: { instruction?: string | undefined; systemFirst?: boolean | undefined },
): LanguageModelV4Prompt {
  const allMessages = instruction === undefined ? messages : withInstruction(messages, instruction);
  if (!systemFirst) return allMessages.map(convertMessage);

  const texts = allMessages
    .filter(({ role }) => role === 'system')
    .map(({ parts }) => joinMessageText(parts));
  const text = texts.filter(part => part !== '').join('\n\n');
  const others = allMessages.filter(({ role }) => role !== 'system').map(convertMessage);

  // A prompt of system messages only is sent as the user's.
  if (others.length === 0) return [{ role: 'user', content: [{ type: 'text', text }] }];
  return text === '' ? others : [{ role: 'system', content: text }, ...others];
}

/** Adds an instruction to the last system message, or as a new one before all others. */
function withInstruction(messages: readonly Message[], instruction: string): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'system');
  if (last < 0) return [{ role: 'system', parts: [{ text: instruction }] }, ...messages];
  return messages.map((message, index) =>
    index === last
      ? { ...message, parts: [...message.parts, { text: `\n\n${instruction}` }] }
      : message,
  );
}

/**
 * Converts a message. Joins parts that are all text into one, because not every server takes parts.
 */
function convertMessage({ role, parts }: Message): LanguageModelV4Message {
  if (role === 'system') return { role, content: joinMessageText(parts) };

  if (role === 'model') {
    return { role: 'assistant', content: [{ type: 'text', text: joinMessageText(parts) }] };
  }

  if (parts.every(part => 'text' in part)) {
    return { role: 'user', content: [{ type: 'text', text: joinMessageText(parts) }] };
  }

  return {
    role: 'user',
    content: parts.map(part =>
      'text' in part
        ? ({ type: 'text', text: part.text } as const)
        : ({
            type: 'file',
            mediaType: part.image.mediaType,
            data: { type: 'data', data: part.image.bytes },
            // OpenAI's Responses require this field, although it has a default.
            providerOptions: { openai: { imageDetail: 'auto' } },
          } as const),
    ),
  };
}
