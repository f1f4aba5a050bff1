import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';
import type { OptionName } from '../../model-entry.ts';
import type { AnswerFormat } from '../answers/model-answer.ts';
import type { ProviderRequest } from '../send-request.ts';
import type { SortedOptions } from './call-options.ts';
import type { CapturedRequest } from './capture-request.ts';
import type { ModelId, ProviderInterface } from './provider-interface.ts';

/** A request before it is sent. */
export interface BuiltRequest extends ProviderRequest {
  readonly answerFormat: AnswerFormat;
  /** The URL to poll for an image that is drawn asynchronously. */
  readonly resultUrl?: URL;
  /** True if the model has to answer by calling a tool. */
  readonly hasJsonTool: boolean;
  /** True if the prompt has its own tools, whose calls are the answer. */
  readonly keepsToolCalls: boolean;
  /** The options in it that a provider may refuse. */
  readonly refusableOptions: ReadonlySet<OptionName>;
  /** Notes on what was left out or changed, one sentence each. */
  readonly warnings: readonly string[];
}

/** A model with its interface and the options of a run. */
export interface RequestTarget {
  readonly api: ProviderInterface;
  readonly modelId: ModelId;
  readonly sortedOptions: SortedOptions;
}

/** Returns the JSON object that a client sends; empty for any other body. */
export function parseRequestBody({ body }: CapturedRequest): UncheckedObject {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isJsonObject(value) ? value : {};
}

export function withBody({ url, method, headers }: CapturedRequest, body: object): ProviderRequest {
  return { url, method, headers, body: Buffer.from(JSON.stringify(body)) };
}
