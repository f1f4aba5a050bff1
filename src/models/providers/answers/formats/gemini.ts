import { listAt, textAt, valueAt } from '../../../../utils/bounded-json.ts';
import { type AnswerFormat, countAt, type ModelAnswer } from '../model-answer.ts';

/** Google's `generateContent`. */
export const GEMINI: AnswerFormat = {
  empty: { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] },
  stops: {
    stop: 'whole',
    max_tokens: 'length',
    continuation: 'paused',
    recitation: 'filter',
    language: 'filter',
    blocklist: 'filter',
    spii: 'filter',
    image_recitation: 'filter',
    malformed_response: 'broken',
    malformed_function_call: 'whole',
    unexpected_tool_call: 'whole',
    too_many_tool_calls: 'whole',
    no_image: 'whole',
  },
  read(object, answer) {
    answer.addCounts(valueAt(object, 'usageMetadata'));
    answer.tier =
      textAt(object, 'usageMetadata', 'serviceTier') ??
      textAt(object, 'usageMetadata', 'service_tier') ??
      answer.tier;
    const blocked = textAt(object, 'promptFeedback', 'blockReason');
    if (blocked !== undefined && blocked !== 'BLOCK_REASON_UNSPECIFIED') {
      answer.addRefusal(
        textAt(object, 'promptFeedback', 'blockReasonMessage') ?? `the prompt is blocked (${blocked})`,
      );
      answer.isEnded = true;
    }
    for (const [index, candidate] of listAt(object, 'candidates').entries()) {
      readCandidate(candidate, countAt(candidate, 'index') ?? index, answer);
    }
  },
  usage(counts) {
    const prompt = countAt(counts, 'promptTokenCount');
    const answerTokens = countAt(counts, 'candidatesTokenCount');
    const thought = countAt(counts, 'thoughtsTokenCount') ?? 0;
    if (
      prompt === undefined ||
      (answerTokens === undefined && countAt(counts, 'totalTokenCount') === undefined)
    ) {
      return undefined;
    }
    const input = prompt + (countAt(counts, 'toolUsePromptTokenCount') ?? 0);
    const cached = Math.min(countAt(counts, 'cachedContentTokenCount') ?? 0, input);
    return { input, output: (answerTokens ?? 0) + thought, cached };
  },
};

function readCandidate(candidate: unknown, index: number, answer: ModelAnswer): void {
  const reason = textAt(candidate, 'finishReason');
  if (reason !== undefined && reason !== 'FINISH_REASON_UNSPECIFIED') {
    answer.isEnded = true;
    answer.addStopReason(reason);
  }
  for (const part of listAt(candidate, 'content', 'parts')) {
    if (valueAt(part, 'thought') === true) {
      answer.hasThought = true;
      continue;
    }
    answer.addText(textAt(part, 'text'), index);
    const picture = textAt(part, 'inlineData', 'data');
    if (picture !== undefined && !/^(?:audio|video)\//.test(textAt(part, 'inlineData', 'mimeType') ?? '')) {
      answer.pictures.push({ base64: picture });
    }
    const called = valueAt(part, 'functionCall');
    if (called !== undefined) {
      answer.addToolCall(textAt(called, 'name'), JSON.stringify(valueAt(called, 'args') ?? {}), index);
    }
  }
}
