import { isDeepStrictEqual } from 'node:util';
import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { toTextOrJson } from '../../../files/formats/json-fields.ts';
import type { UncheckedObject } from '../../../utils/bounded-json.ts';
import type { PromptJob } from '../../engine.ts';
import { USER_AGENT } from '../../outgoing/open-http.ts';
import { ProviderFault } from '../answers/provider-fault.ts';
import type { ProviderAccess } from '../provider-access.ts';
import {
  type BuiltRequest,
  parseRequestBody,
  type RequestTarget,
  withBody,
} from './built-request.ts';
import {
  collectClientNotes,
  describeOmission,
  type SortedOptions,
  toCallOptions,
} from './call-options.ts';
import { type CapturedCall, captureRequest, readStreamWarnings } from './capture-request.ts';
import { buildClientMessages } from './client-messages.ts';
import type { JsonForm } from './json-form.ts';
import { type ClientExtras, type ProviderInterface, toSharedEffort } from './provider-interface.ts';
import { mergeFields, toGeminiFields, toSnakeCase } from './request-body.ts';
import { listDroppedKeywords } from './schema-keywords.ts';
import { isReasoningModel, toModelTarget } from './unsupported-options.ts';

/** A model to chat with, and the way to ask it for JSON. */
interface ChatTarget extends RequestTarget {
  readonly json: JsonForm;
}

/** Builds a request for an answer in text, or for an image that is asked for by chat. */
export async function buildChat(
  job: PromptJob,
  access: ProviderAccess,
  chat: ChatTarget,
): Promise<BuiltRequest & { lacksResponseFormat: boolean }> {
  const { api, modelId, sortedOptions } = chat;
  const { model } = job;
  const { request, warnings, isEffortOmitted } = await captureChat(job, access, chat);
  const { notes, omittedOptions } = collectClientNotes(warnings, model, sortedOptions);

  const clientBody = parseRequestBody(request);
  const toFields = api.configField === undefined ? toSnakeCase : toGeminiFields;
  const body = mergeFields(
    { ...api.defaultFields, ...clientBody },
    toFields(buildChatFields(chat)),
  );

  const omittedSettings: string[] = [];
  if (isEffortOmitted && !omittedOptions.has('reasoningEffort')) {
    omittedSettings.push('reasoningEffort');
  }
  if (sortedOptions.standardOptions.has('n') && api.countField === undefined) {
    omittedSettings.push('n');
  }

  for (const keyword of listDroppedKeywords(job.json?.schema, clientBody)) {
    omittedSettings.push(`the schema's ${keyword}`);
  }

  return {
    ...withBody(request, body),
    answerFormat: api.chooseAnswerFormat(modelId),
    hasJsonTool: clientBody['tools'] !== undefined || clientBody['toolConfig'] !== undefined,
    keepsToolCalls: hasOwnTools(sortedOptions),
    refusableOptions: new Set(
      [...sortedOptions.standardOptions.keys()].filter(key => !omittedOptions.has(key)),
    ),
    warnings: [
      ...sortedOptions.notes.map(({ note }) => note),
      ...notes,
      ...omittedSettings.map(setting => describeOmission(model, setting)),
    ],
    lacksResponseFormat: warnings.some(isMissingFormatWarning),
  };
}

/** Captures the request that the client makes, with its warnings about what it left out. */
async function captureChat(
  job: PromptJob,
  access: ProviderAccess,
  chat: ChatTarget,
): Promise<CapturedCall & { isEffortOmitted: boolean }> {
  const { api, modelId, sortedOptions, json } = chat;
  const effort = sortedOptions.standardOptions.get('reasoningEffort');
  const target = toModelTarget(job.model);
  const extras: ClientExtras = {
    effort: effort === undefined ? undefined : toTextOrJson(effort),
    isStrict: json.isStrict,
    isReasoning: target && isReasoningModel(target),
  };

  const isStreamed = job.onText !== undefined && canStream(sortedOptions);
  const dummyAnswer = isStreamed ? '' : JSON.stringify(api.chooseAnswerFormat(modelId).emptyAnswer);

  return await captureWithEffort(api, extras, clientOptions =>
    captureRequest(access, dummyAnswer, async settings => {
      const client = await api.loadLanguageModel(settings, modelId);
      const call = { ...buildChatCall(job, chat), ...clientOptions };
      return isStreamed
        ? await readStreamWarnings(client, call)
        : (await client.doGenerate(call)).warnings;
    }),
  );
}

/** Returns true for an answer that can be shown piece by piece: one text, without tool calls. */
function canStream(options: SortedOptions): boolean {
  const count = options.standardOptions.get('n');
  return !(typeof count === 'number' && count > 1) && !hasOwnTools(options);
}

/** Returns the arguments of the client for a prompt with its options. */
function buildChatCall(
  { prompt }: PromptJob,
  { api, sortedOptions, json }: ChatTarget,
): LanguageModelV4CallOptions {
  const { instruction, responseFormat } = json;
  const { topK, ...options } = toCallOptions(sortedOptions);
  return {
    ...options,
    ...(api.topKField === undefined && topK !== undefined && { topK }),
    prompt: buildClientMessages(prompt.messages, {
      instruction,
      needsSystemFirst: api.needsSystemFirst,
    }),
    headers: { 'user-agent': USER_AGENT },
    ...(responseFormat && { responseFormat }),
  };
}

/** Returns the fields that the client doesn't write itself. */
function buildChatFields({ api, sortedOptions, json }: ChatTarget): UncheckedObject {
  const { topK } = toCallOptions(sortedOptions);
  const count = sortedOptions.standardOptions.get('n');
  return {
    ...(api.topKField !== undefined && topK !== undefined && { [api.topKField]: topK }),
    ...(api.countField !== undefined && count !== undefined && { [api.countField]: count }),
    ...sortedOptions.otherOptions,
    ...json.fields,
  };
}

function hasOwnTools({ otherOptions }: SortedOptions): boolean {
  return 'tools' in otherOptions || 'functions' in otherOptions;
}

function isMissingFormatWarning(warning: SharedV4Warning): boolean {
  return warning.type === 'unsupported' && warning.feature === 'responseFormat';
}

/**
 * Captures a request with the effort as the provider's own option. If the client refuses it, tries
 * the option that all clients share, then none.
 */
async function captureWithEffort(
  api: ProviderInterface,
  extras: ClientExtras,
  capture: (options: ReturnType<ProviderInterface['buildClientOptions']>) => Promise<CapturedCall>,
): Promise<CapturedCall & { isEffortOmitted: boolean }> {
  const { effort } = extras;
  const withoutEffort = api.buildClientOptions({ ...extras, effort: undefined });
  if (effort === undefined) return { ...(await capture(withoutEffort)), isEffortOmitted: false };

  for (const options of [
    api.buildClientOptions(extras),
    { ...withoutEffort, ...toSharedEffort(effort) },
  ]) {
    if (isDeepStrictEqual(options, withoutEffort)) continue;
    try {
      return { ...(await capture(options)), isEffortOmitted: false };
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
    }
  }

  return { ...(await capture(withoutEffort)), isEffortOmitted: true };
}
