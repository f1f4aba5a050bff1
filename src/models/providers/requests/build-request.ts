import { isDeepStrictEqual } from 'node:util';
import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { textOrJson } from '../../../files/formats/json-fields.ts';
import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';
import type { PromptJob } from '../../engine.ts';
import type { InterfaceName, OptionName } from '../../model-entry.ts';
import { USER_AGENT } from '../../outgoing/open-http.ts';
import type { Access } from '../access.ts';
import { IMAGES } from '../answers/formats/images.ts';
import type { AnswerFormat } from '../answers/model-answer.ts';
import { ProviderFault } from '../answers/provider-fault.ts';
import type { ProviderRequest } from '../send-request.ts';
import { callOptions, clientNotes, leftOutNote, type SortedOptions, sortOptions } from './call-options.ts';
import {
  type CapturedCall,
  type CapturedRequest,
  captureRequest,
  streamWarnings,
} from './capture-request.ts';
import { clientMessages } from './client-messages.ts';
import { drawingCall, drawingNotes } from './drawing-call.ts';
import { chooseJsonForm, type JsonForm } from './json-form.ts';
import {
  CLIENTS,
  type Extras,
  type ModelId,
  type ProviderInterface,
  sharedEffort,
} from './provider-clients.ts';
import { geminiFields, mergeFields, snakeCased } from './request-body.ts';
import { droppedKeywords } from './schema-keywords.ts';
import { isReasoningModel, modelTarget } from './unsupported-options.ts';

/** A request before it is sent. */
export interface BuiltRequest extends ProviderRequest {
  readonly answerFormat: AnswerFormat;
  /** The URL to poll for a picture that is drawn asynchronously. */
  readonly resultUrl?: URL;
  /** True if the model has to answer by calling a tool. */
  readonly hasJsonTool: boolean;
  /** True if the prompt has tools of its own, whose calls are the answer. */
  readonly keepsCalls: boolean;
  /** The options in it that a provider may refuse. */
  readonly options: ReadonlySet<OptionName>;
  /** Notes on what was left out or changed, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Builds the request to a provider. The client of the interface makes it and gets an empty answer back, so that it
 * reports what it left out without sending anything.
 *
 * @param refused options that this model has refused before
 * @throws {ProviderFault} if the client can't express the request
 */
export async function buildRequest(
  job: PromptJob,
  access: Access,
  refused: ReadonlySet<OptionName> = new Set(),
): Promise<BuiltRequest> {
  const { model } = job;
  const { provider } = access;
  const modelId: ModelId = { provider: provider.name, id: model.id ?? model.model };
  const api: ProviderInterface = CLIENTS[chooseInterface(access)];
  const sorted = sortOptions(job.runOptions, model, refused);
  if (model.modality === 'image') {
    const { aspectRatio, ...others } = sorted.others;
    const drawn = api.drawsByChat?.(modelId, aspectRatio);
    if (drawn === undefined) return await buildDrawing(job, access, { api, modelId, sorted });
    const drawing = { ...sorted, others: { ...others, ...drawn } };
    return await buildChat(job, access, { api, modelId, sorted: drawing, json: { strict: false } });
  }
  const attempt = await buildChat(job, access, { api, modelId, sorted, json: chooseJsonForm(job, api) });
  if (job.json === undefined || !attempt.lacksFormat) return attempt;
  return await buildChat(job, access, { api, modelId, sorted, json: chooseJsonForm(job, api, 'words') });
}

/** Returns the interface; OpenAI's own client serves its own address, and the one in its variable. */
function chooseInterface({ provider: { name, engine, baseUrl } }: Access): InterfaceName | 'openai-chat' {
  if (engine !== 'openai') return engine;
  const isOfficial = /(?:^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname);
  return name === 'openai' || isOfficial ? 'openai-chat' : 'openai';
}

/** A model with its interface and the options of a run. */
interface ChatTarget {
  readonly api: ProviderInterface;
  readonly modelId: ModelId;
  readonly sorted: SortedOptions;
}

/** A model to chat with, and how to ask it for JSON. */
interface Chat extends ChatTarget {
  readonly json: JsonForm;
}

async function buildChat(
  job: PromptJob,
  access: Access,
  chat: Chat,
): Promise<BuiltRequest & { lacksFormat: boolean }> {
  const { api, modelId, sorted } = chat;
  const { model } = job;
  const captured = await captureChat(job, access, chat);
  const { request, warnings } = captured;
  const own = jsonBody(request);
  const { notes, leftOut } = clientNotes(warnings, model, sorted);
  const asFields = api.configIn === undefined ? snakeCased : geminiFields;
  const body = mergeFields({ ...api.defaults, ...own }, asFields(chatFields(chat)));
  const omitted = [
    ...(!captured.hasEffort && !leftOut.has('reasoningEffort') ? ['reasoningEffort'] : []),
    ...(sorted.known.has('n') && api.count === undefined ? ['n'] : []),
    ...droppedKeywords(job.json?.schema, own).map(keyword => `the schema's ${keyword}`),
  ];
  return {
    ...withBody(request, body),
    answerFormat: api.answerFormat(modelId),
    hasJsonTool: own['tools'] !== undefined || own['toolConfig'] !== undefined,
    keepsCalls: hasOwnTools(sorted),
    options: new Set([...sorted.known.keys()].filter(key => !leftOut.has(key))),
    warnings: [...sorted.warnings, ...notes, ...omitted.map(what => leftOutNote(model, what))],
    lacksFormat: warnings.some(isLackOfFormat),
  };
}

/** Captures the request that the client makes, which reports in `warnings` what it left out. */
async function captureChat(
  job: PromptJob,
  access: Access,
  chat: Chat,
): Promise<CapturedCall & { hasEffort: boolean }> {
  const { api, modelId, sorted, json } = chat;
  const effort = sorted.known.get('reasoningEffort');
  const target = modelTarget(job.model);
  const extras: Extras = {
    effort: effort === undefined ? undefined : textOrJson(effort),
    strict: json.strict,
    reasons: target && isReasoningModel(target),
  };
  const call = chatCall(job, chat);
  const count = sorted.known.get('n');
  const isWhole = (typeof count === 'number' && count > 1) || hasOwnTools(sorted);
  const streams = job.onText !== undefined && !isWhole;
  const answer = streams ? '' : JSON.stringify(api.answerFormat(modelId).empty);
  return await captureWithEffort(api, extras, options =>
    captureRequest(access, answer, async settings => {
      const client = await api.language(settings, modelId);
      const whole = { ...call, ...options };
      return streams ? await streamWarnings(client, whole) : (await client.doGenerate(whole)).warnings;
    }),
  );
}

/** Returns the arguments of the client for a prompt with its options. */
function chatCall({ prompt }: PromptJob, { api, sorted, json }: Chat): LanguageModelV4CallOptions {
  const { topK, ...options } = callOptions(sorted);
  return {
    ...options,
    ...(api.topK === undefined && topK !== undefined && { topK }),
    prompt: clientMessages(prompt.messages, { words: json.words, systemFirst: api.systemFirst }),
    headers: { 'user-agent': USER_AGENT },
    ...(json.responseFormat && { responseFormat: json.responseFormat }),
  };
}

/** Returns the fields that the client doesn't write itself. */
function chatFields({ api, sorted, json }: Chat): UncheckedObject {
  const { topK } = callOptions(sorted);
  const count = sorted.known.get('n');
  return {
    ...(api.topK !== undefined && topK !== undefined && { [api.topK]: topK }),
    ...(api.count !== undefined && count !== undefined && { [api.count]: count }),
    ...sorted.others,
    ...json.fields,
  };
}

function hasOwnTools({ others }: SortedOptions): boolean {
  return 'tools' in others || 'functions' in others;
}

function isLackOfFormat(warning: SharedV4Warning): boolean {
  return warning.type === 'unsupported' && warning.feature === 'responseFormat';
}

/** Options that requests for pictures support. */
const DRAWING_OPTIONS: ReadonlySet<OptionName> = new Set(['seed', 'n']);

async function buildDrawing(
  job: PromptJob,
  access: Access,
  { api, modelId, sorted }: ChatTarget,
): Promise<BuiltRequest> {
  const { image } = api;
  const advice = api.insteadOf?.(modelId) ?? (image ? undefined : 'use a model of another provider');
  if (image === undefined || advice !== undefined) {
    throw new ProviderFault(`can't make pictures with ${modelId.id}`, { advice, isRefused: true });
  }
  const { call, others } = drawingCall(job, api.ratioAs?.(modelId) ?? 'ratio', sorted);
  const { request, warnings } = await captureRequest(access, JSON.stringify(IMAGES.empty), async settings => {
    const client = await image(settings, modelId);
    if (call.files && (await client.supportsFileInputs) === false) {
      throw new Error(`${modelId.id} can make pictures, but not change them`);
    }
    return (await client.doGenerate(call)).warnings;
  });
  const { notes, leftOut } = clientNotes(warnings, job.model, sorted);
  const omitted = [...sorted.known.keys()].filter(key => !DRAWING_OPTIONS.has(key) && !leftOut.has(key));
  return {
    ...(await withFields(request, snakeCased(others))),
    answerFormat: IMAGES,
    hasJsonTool: false,
    keepsCalls: false,
    options: new Set([...sorted.known.keys()].filter(key => !leftOut.has(key) && !omitted.includes(key))),
    warnings: [
      ...sorted.warnings,
      ...notes,
      ...omitted.map(key => leftOutNote(job.model, key)),
      ...drawingNotes(warnings, job.model, call),
    ],
    ...(api.drawsLater?.(modelId) && { resultUrl: new URL(`${request.url.href}/get_result`) }),
  };
}

/**
 * Captures a request with the effort as the provider's own option. If the client refuses it, tries the option that all
 * clients share, then none.
 */
async function captureWithEffort(
  api: ProviderInterface,
  extras: Extras,
  ask: (options: ReturnType<ProviderInterface['options']>) => Promise<CapturedCall>,
): Promise<CapturedCall & { hasEffort: boolean }> {
  const { effort } = extras;
  const without = api.options({ ...extras, effort: undefined });
  if (effort === undefined) return { ...(await ask(without)), hasEffort: true };
  for (const options of [api.options(extras), { ...without, ...sharedEffort(effort) }]) {
    if (isDeepStrictEqual(options, without)) continue;
    try {
      return { ...(await ask(options)), hasEffort: true };
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
    }
  }
  return { ...(await ask(without)), hasEffort: false };
}

function jsonBody({ body }: CapturedRequest): Readonly<Record<string, unknown>> {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isJsonObject(value) ? value : {};
}

function withBody({ url, method, headers }: CapturedRequest, body: object): ProviderRequest {
  return { url, method, headers, body: Buffer.from(JSON.stringify(body)) };
}

/** Adds fields to a request. One that edits pictures is a form. */
async function withFields(
  request: CapturedRequest,
  fields: Readonly<Record<string, unknown>>,
): Promise<ProviderRequest> {
  const { body, headers } = request;
  if (!(body instanceof FormData)) return withBody(request, mergeFields(jsonBody(request), fields));
  for (const [key, value] of Object.entries(fields)) {
    body.set(key, textOrJson(value));
  }
  const form = new Response(body);
  const type = form.headers.get('content-type') ?? '';
  return {
    ...request,
    headers: { ...headers, 'content-type': type },
    body: new Uint8Array(await form.arrayBuffer()),
  };
}
