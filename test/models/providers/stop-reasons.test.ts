import type Anthropic from '@anthropic-ai/sdk';
import type { StopReason } from '@aws-sdk/client-bedrock-runtime';
import type { FinishReason } from '@google/genai';
import type Groq from 'groq-sdk';
import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { CHAT } from '../../../src/models/providers/answers/formats/chat.ts';
import { CONVERSE } from '../../../src/models/providers/answers/formats/converse.ts';
import { GEMINI } from '../../../src/models/providers/answers/formats/gemini.ts';
import { MESSAGES } from '../../../src/models/providers/answers/formats/messages.ts';
import { RESPONSES } from '../../../src/models/providers/answers/formats/responses.ts';
import {
  type AnswerFormat,
  ModelAnswer,
} from '../../../src/models/providers/answers/model-answer.ts';

// Every reason to stop that the types of the providers' own clients name: `whole` if an answer
// counts as whole, `cut` if it is a failed run. A reason that a release adds turns the type check
// red.

type Reasons<Name extends string> = Readonly<Record<Name, 'whole' | 'cut'>>;

const ANTHROPIC: Reasons<Anthropic.StopReason> = {
  end_turn: 'whole',
  stop_sequence: 'whole',
  tool_use: 'whole',
  max_tokens: 'cut',
  pause_turn: 'cut',
  refusal: 'cut',
  model_context_window_exceeded: 'cut',
};

const BEDROCK: Reasons<StopReason> = {
  end_turn: 'whole',
  stop_sequence: 'whole',
  tool_use: 'whole',
  max_tokens: 'cut',
  content_filtered: 'cut',
  guardrail_intervened: 'cut',
  malformed_model_output: 'cut',
  malformed_tool_use: 'cut',
  model_context_window_exceeded: 'cut',
};

type ChatReason =
  | OpenAI.ChatCompletion.Choice['finish_reason']
  | Groq.Chat.ChatCompletion.Choice['finish_reason'];

const CHATS: Reasons<ChatReason> = {
  stop: 'whole',
  tool_calls: 'whole',
  function_call: 'whole',
  length: 'cut',
  content_filter: 'cut',
};

type Incomplete = NonNullable<OpenAI.Responses.Response.IncompleteDetails['reason']>;

const OPENAI: Reasons<Incomplete | OpenAI.Responses.ResponseStatus> = {
  completed: 'whole',
  max_output_tokens: 'cut',
  max_messages: 'cut',
  content_filter: 'cut',
  steered: 'cut',
  incomplete: 'cut',
  failed: 'cut',
  cancelled: 'cut',
  in_progress: 'cut',
  queued: 'cut',
};

/**
 * Reasons that say nothing about an answer: they are reported if there is a text, and the text
 * counts as whole.
 */
type Unspecific = 'FINISH_REASON_UNSPECIFIED' | 'OTHER' | 'IMAGE_OTHER';

const GOOGLE: Reasons<Exclude<`${FinishReason}`, Unspecific>> = {
  STOP: 'whole',
  MALFORMED_FUNCTION_CALL: 'whole',
  UNEXPECTED_TOOL_CALL: 'whole',
  TOO_MANY_TOOL_CALLS: 'whole',
  NO_IMAGE: 'whole',
  MAX_TOKENS: 'cut',
  SAFETY: 'cut',
  RECITATION: 'cut',
  LANGUAGE: 'cut',
  BLOCKLIST: 'cut',
  PROHIBITED_CONTENT: 'cut',
  SPII: 'cut',
  IMAGE_SAFETY: 'cut',
  IMAGE_PROHIBITED_CONTENT: 'cut',
  IMAGE_RECITATION: 'cut',
  CONTINUATION: 'cut',
  MALFORMED_RESPONSE: 'cut',
};

it.each<[string, AnswerFormat, Reasons<string>]>([
  ['Messages', MESSAGES, ANTHROPIC],
  ['Converse', CONVERSE, BEDROCK],
  ['Chat Completions', CHAT, CHATS],
  ['Responses', RESPONSES, OPENAI],
  ['generateContent', GEMINI, GOOGLE],
])('%s has a meaning for every reason to stop that its client knows', (_, format, reasons) => {
  const verdicts = Object.keys(reasons).map(reason => {
    const answer = new ModelAnswer(format);
    answer.addText('A text');
    answer.addStopReason(reason);
    expect(answer.unknownStopReasons).toEqual([]);
    return [reason, isCut(answer) ? 'cut' : 'whole'];
  });
  expect(Object.fromEntries(verdicts)).toEqual(reasons);
});

function isCut(answer: ModelAnswer): boolean {
  try {
    answer.assertUsable();
    return false;
  } catch {
    return true;
  }
}
