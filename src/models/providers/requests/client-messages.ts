import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Message } from '../../../prompts/render/render-prompt.ts';
import { joinMessageText } from '../../engine.ts';

/**
 * Returns the messages of a prompt in the clients' format.
 *
 * @param instruction text to add to the system message
 * @param needsSystemFirst true if system messages must come before all others
 */
export function buildClientMessages(
  messages: readonly Message[],
  {
    instruction,
    needsSystemFirst = false,
  }: { instruction?: string | undefined; needsSystemFirst?: boolean | undefined },
): LanguageModelV4Prompt {
  const allMessages = instruction === undefined ? messages : withInstruction(messages, instruction);
  if (!needsSystemFirst) return allMessages.map(convertMessage);

  const systemTexts = allMessages
    .filter(({ role }) => role === 'system')
    .map(({ parts }) => joinMessageText(parts));
  const systemText = systemTexts.filter(text => text !== '').join('\n\n');
  const otherMessages = allMessages.filter(({ role }) => role !== 'system').map(convertMessage);

  // A prompt of system messages only is sent as the user's.
  if (otherMessages.length === 0) {
    return [{ role: 'user', content: [{ type: 'text', text: systemText }] }];
  }
  return systemText === ''
    ? otherMessages
    : [{ role: 'system', content: systemText }, ...otherMessages];
}

/** Adds an instruction to the last system message, or as a new one before all others. */
function withInstruction(messages: readonly Message[], instruction: string): readonly Message[] {
  const lastIndex = messages.findLastIndex(({ role }) => role === 'system');
  if (lastIndex < 0) return [{ role: 'system', parts: [{ text: instruction }] }, ...messages];
  return messages.map((message, index) =>
    index === lastIndex
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
