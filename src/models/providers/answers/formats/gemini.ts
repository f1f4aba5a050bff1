import { readListAt, readTextAt, readValueAt } from '../../../../utils/bounded-json.ts';
import { type AnswerFormat, type ModelAnswer, readCountAt } from '../model-answer.ts';

/** Google's `generateContent`. */
export const GEMINI: AnswerFormat = {
  emptyAnswer: { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] },
  stopMeanings: {
    stop: 'whole',
    max_tokens: 'length',
    continuation: 'paused',
    recitation: 'filter',
    language: 'filter',
    blocklist: 'filter',
    spii: 'filter',
    image_recitation: 'filter',
    malformed_response: 'broken',
    // These leave the answer empty, of which the fault says more.
    malformed_function_call: 'whole',
    unexpected_tool_call: 'whole',
    too_many_tool_calls: 'whole',
    no_image: 'whole',
  },
  read(object, answer) {
    answer.addCounts(readValueAt(object, 'usageMetadata'));
    answer.tier =
      readTextAt(object, 'usageMetadata', 'serviceTier') ??
      readTextAt(object, 'usageMetadata', 'service_tier') ??
      answer.tier;

    const blockReason = readTextAt(object, 'promptFeedback', 'blockReason');
    if (blockReason !== undefined && blockReason !== 'BLOCK_REASON_UNSPECIFIED') {
      answer.addRefusal(
        readTextAt(object, 'promptFeedback', 'blockReasonMessage') ??
          `the prompt is blocked (${blockReason})`,
      );
      answer.isEnded = true;
    }

    for (const [index, candidate] of readListAt(object, 'candidates').entries()) {
      readCandidate(candidate, readCountAt(candidate, 'index') ?? index, answer);
    }
  },
  readUsage(counts) {
    const promptTokens = readCountAt(counts, 'promptTokenCount');
    const answerTokens = readCountAt(counts, 'candidatesTokenCount');
    const thoughtTokens = readCountAt(counts, 'thoughtsTokenCount') ?? 0;

    if (
      promptTokens === undefined ||
      (answerTokens === undefined && readCountAt(counts, 'totalTokenCount') === undefined)
    ) {
      return undefined;
    }

    const input = promptTokens + (readCountAt(counts, 'toolUsePromptTokenCount') ?? 0);
    const cached = Math.min(readCountAt(counts, 'cachedContentTokenCount') ?? 0, input);
    return { input, output: (answerTokens ?? 0) + thoughtTokens, cached };
  },
};

function readCandidate(candidate: unknown, index: number, answer: ModelAnswer): void {
  const reason = readTextAt(candidate, 'finishReason');
  if (reason !== undefined && reason !== 'FINISH_REASON_UNSPECIFIED') {
    answer.isEnded = true;
    answer.addStopReason(reason);
  }
  for (const part of readListAt(candidate, 'content', 'parts')) {
    if (readValueAt(part, 'thought') === true) {
      answer.hasThought = true;
      continue;
    }

    answer.addText(readTextAt(part, 'text'), index);
    const base64 = readTextAt(part, 'inlineData', 'data');
    if (
      base64 !== undefined &&
      !/^(?:audio|video)\//.test(readTextAt(part, 'inlineData', 'mimeType') ?? '')
    ) {
      answer.images.push({ base64 });
    }

    const calledFunction = readValueAt(part, 'functionCall');
    if (calledFunction !== undefined) {
      answer.addToolCall(
        readTextAt(calledFunction, 'name'),
        JSON.stringify(readValueAt(calledFunction, 'args') ?? {}),
        index,
      );
    }
  }
}
