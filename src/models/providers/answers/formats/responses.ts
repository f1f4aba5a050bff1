import { listAt, textAt, valueAt } from '../../../../utils/bounded-json.ts';
import type { AnswerFormat, ModelAnswer } from '../model-answer.ts';
import { tokenUsage } from './chat.ts';

/** OpenAI's Responses. */
export const RESPONSES: AnswerFormat = {
  empty: {
    id: '',
    object: 'response',
    created_at: 0,
    model: '',
    status: 'completed',
    output: [],
    usage: { input_tokens: 0, output_tokens: 0 },
  },
  stops: {
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
    const type = textAt(object, 'type') ?? '';
    switch (type) {
      case 'response.output_text.delta':
        return answer.addText(textAt(object, 'delta'));
      case 'response.refusal.delta':
        return answer.addRefusal(textAt(object, 'delta'));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        answer.isEnded = true;
        return readEnd(valueAt(object, 'response'), answer, { withText: answer.text === '' });
      case 'error':
        return answer.setError(valueAt(object, 'error') ?? object);
      default:
        return type.startsWith('response.') ? undefined : readEnd(object, answer, { withText: true });
    }
  },
  usage: tokenUsage,
};

/** Reads a whole response; without its text if that arrived piece by piece before. */
function readEnd(response: unknown, answer: ModelAnswer, { withText }: { withText: boolean }): void {
  answer.addCounts(valueAt(response, 'usage'));
  answer.tier = textAt(response, 'service_tier') ?? answer.tier;
  answer.setError(valueAt(response, 'error'));
  answer.addStopReason(textAt(response, 'incomplete_details', 'reason'));
  answer.addStopReason(textAt(response, 'status'));
  for (const item of listAt(response, 'output')) readResponseItem(item, answer, { withText });
}

function readResponseItem(item: unknown, answer: ModelAnswer, { withText }: { withText: boolean }): void {
  const type = textAt(item, 'type') ?? '';
  if (type === 'reasoning') answer.hasThought = true;
  if (type === 'function_call') answer.addToolCall(textAt(item, 'name'), textAt(item, 'arguments'));
  const picture = type === 'image_generation_call' ? textAt(item, 'result') : undefined;
  if (picture !== undefined) answer.pictures.push({ base64: picture });
  if (!withText) return;
  for (const part of listAt(item, 'content')) {
    const kind = textAt(part, 'type');
    if (kind === 'output_text' || kind === 'text') answer.addText(textAt(part, 'text'));
    if (kind === 'refusal') answer.addRefusal(textAt(part, 'refusal'));
  }
}
