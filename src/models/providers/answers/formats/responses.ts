import { readListAt, readTextAt, readValueAt } from '../../../../utils/bounded-json.ts';
import type { AnswerFormat, ModelAnswer } from '../model-answer.ts';
import { readTokenUsage } from './token-usage.ts';

/** OpenAI's Responses. */
export const RESPONSES: AnswerFormat = {
  emptyAnswer: {
    id: '',
    object: 'response',
    created_at: 0,
    model: '',
    status: 'completed',
    output: [],
    usage: { input_tokens: 0, output_tokens: 0 },
  },
  stopMeanings: {
    completed: 'whole',
    max_output_tokens: 'length',
    max_tokens: 'length',
    context_window_exceeded: 'context',
    content_filter: 'filter',
    max_messages: 'broken',
    steered: 'broken',
    incomplete: 'broken',
    in_progress: 'broken',
    queued: 'broken',
    cancelled: 'broken',
    failed: 'error',
  },
  read(object, answer) {
    const type = readTextAt(object, 'type') ?? '';
    switch (type) {
      case 'response.output_text.delta':
        return answer.addText(readTextAt(object, 'delta'));
      case 'response.refusal.delta':
        return answer.addRefusal(readTextAt(object, 'delta'));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        answer.isEnded = true;
        return readResponse(readValueAt(object, 'response'), answer, {
          withText: answer.text === '',
        });
      case 'error':
        return answer.addError(readValueAt(object, 'error') ?? object);
      default:
        return type.startsWith('response.')
          ? undefined
          : readResponse(object, answer, { withText: true });
    }
  },
  readUsage: readTokenUsage,
};

/** Reads a whole response; without its text if that arrived piece by piece before. */
function readResponse(
  response: unknown,
  answer: ModelAnswer,
  { withText: includesText }: { withText: boolean },
): void {
  answer.addCounts(readValueAt(response, 'usage'));
  answer.tier = readTextAt(response, 'service_tier') ?? answer.tier;
  answer.addError(readValueAt(response, 'error'));
  answer.addStopReason(readTextAt(response, 'incomplete_details', 'reason'));
  answer.addStopReason(readTextAt(response, 'status'));
  for (const item of readListAt(response, 'output')) {
    readResponseItem(item, answer, { withText: includesText });
  }
}

function readResponseItem(
  item: unknown,
  answer: ModelAnswer,
  { withText }: { withText: boolean },
): void {
  const type = readTextAt(item, 'type') ?? '';
  if (type === 'reasoning') answer.hasThought = true;

  if (type === 'function_call') {
    answer.addToolCall(readTextAt(item, 'name'), readTextAt(item, 'arguments'));
  }

  const base64 = type === 'image_generation_call' ? readTextAt(item, 'result') : undefined;
  if (base64 !== undefined) answer.images.push({ base64 });
  if (!withText) return;

  for (const part of readListAt(item, 'content')) {
    const kind = readTextAt(part, 'type');
    if (kind === 'output_text' || kind === 'text') answer.addText(readTextAt(part, 'text'));
    if (kind === 'refusal') answer.addRefusal(readTextAt(part, 'refusal'));
  }
}
