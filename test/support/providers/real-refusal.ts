import { BEDROCK_MESSAGES, MESSAGES } from './anthropic.ts';
import { CHAT_DIALECTS, type ChatDialect } from './chat-dialects.ts';
import { CONVERSE } from './converse.ts';
import type { ProviderAnswer, ProviderRequest } from './fake-provider.ts';
import { GENERATE_CONTENT } from './google.ts';
import { FIREWORKS_RESULT, FIREWORKS_WORKFLOW, IMAGES, NOVA_CANVAS } from './images.ts';
import { findRefusal, type InterfaceRules } from './interface-rules.ts';
import { openaiError } from './openai.ts';
import { OPENAI_RESPONSES } from './responses.ts';

/** The interfaces that are known by their paths alone. */
const BY_PATH: readonly (readonly [RegExp, InterfaceRules])[] = [
  [/\/responses$/, OPENAI_RESPONSES],
  [/\/messages$/, MESSAGES],
  [/:(stream)?generateContent(\?.*)?$/i, GENERATE_CONTENT],
  [/\/model\/amazon\.[^/]+\/invoke$/, NOVA_CANVAS],
  [/\/model\/[^/]+\/(invoke|invoke-with-response-stream)$/, BEDROCK_MESSAGES],
  [/\/model\/[^/]+\/(converse|converse-stream)$/, CONVERSE],
  [/\/workflows\/.*\/get_result$/, FIREWORKS_RESULT],
  [/\/workflows\//, FIREWORKS_WORKFLOW],
];

const MISSING_IMAGE = openaiError("Missing required parameter: 'image'.", {
  param: 'image',
  code: 'missing_required_parameter',
});

/**
 * Returns the real service's answer to a request that it refuses; undefined if it takes it, or if
 * nothing is known of it.
 */
export function findRealRefusal(
  request: ProviderRequest,
  dialect: ChatDialect,
): ProviderAnswer | undefined {
  if (
    request.path.endsWith('/images/edits') &&
    request.headers['content-type']?.startsWith('multipart/')
  ) {
    return /name="image(\[\])?"/.test(request.text) ? undefined : MISSING_IMAGE;
  }

  if (request.method !== 'POST' || !/json/.test(request.headers['content-type'] ?? '')) {
    return undefined;
  }

  const isDrawing = /\/images\/(?:generations|edits)$/.test(request.path);
  const drawing = isDrawing ? IMAGES[dialect] : undefined;
  const byDialect = request.path.endsWith('/chat/completions') ? CHAT_DIALECTS[dialect] : drawing;
  const service = byDialect ?? BY_PATH.find(([path]) => path.test(request.path))?.[1];

  return service && findRefusal(service, request);
}
