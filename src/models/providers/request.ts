import { isDeepStrictEqual } from 'node:util';
import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { messageOf } from '../../files/error-utils.ts';
import { textOrJson } from '../../files/json.ts';
import { isJsonObject } from '../../wire/bounded-json.ts';
import type { PromptJob } from '../engine.ts';
import type { InterfaceName, OptionName } from '../entry.ts';
import { USER_AGENT } from '../outgoing/request.ts';
import type { Access } from './access.ts';
import type { Form } from './answer.ts';
import {
  CLIENTS,
  type ClientSettings,
  type Extras,
  type Interface,
  sharedEffort,
  type Wanted,
} from './clients.ts';
import { drawingCall, drawingNotes } from './drawing.ts';
import { DRAWN } from './forms/drawn.ts';
import { type JsonForm, jsonFormOf } from './json-form.ts';
import { clientMessages } from './messages.ts';
import { callOptions, clientNotes, leftOutNote, type SortedOptions, sortOptions } from './options.ts';
import { ProviderFault } from './refusal.ts';
import { geminiFields, merged, snakeCased } from './request-body.ts';
import { droppedKeywords } from './schema-notes.ts';
import type { ProviderRequest } from './send.ts';
import { reasons, targetOf } from './unsupported-options.ts';

/** A request that is not sent yet. */
export interface BuiltRequest extends ProviderRequest {
  /** How its answer is read. */
  readonly form: Form;
  /** Where a picture that is drawn in its own time is asked for. */
  readonly resultUrl?: URL;
  /** True if the model has to answer by calling a tool. */
  readonly hasJsonTool: boolean;
  /** The options in it that a provider may refuse. */
  readonly options: ReadonlySet<OptionName>;
  /** What was left out of it, or changed, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Builds what a provider is asked. The client of its interface makes the request, and takes an empty answer for the
 * provider's: so it says what it left out, and nothing is sent.
 *
 * @param refused options that the provider does not take from this model
 * @throws {ProviderFault} for what the client can't say in its interface
 */
export async function buildRequest(
  job: PromptJob,
  access: Access,
  refused: ReadonlySet<OptionName> = new Set(),
): Promise<BuiltRequest> {
  const { model } = job;
  const { provider } = access;
  const wanted: Wanted = { provider: provider.name, id: model.id ?? model.model };
  const spoken: Interface = CLIENTS[interfaceOf(access)];
  const sorted = sortOptions(job.runOptions, model, refused);
  if (model.modality === 'image') {
    const { aspectRatio, ...others } = sorted.others;
    const drawn = spoken.drawsByChat?.(wanted, aspectRatio);
    if (drawn === undefined) return await buildDrawing(job, access, { spoken, wanted, sorted });
    const asked = { ...sorted, others: { ...others, ...drawn } };
    return await buildChat(job, access, { spoken, wanted, sorted: asked, json: { strict: false } });
  }
  const attempt = await buildChat(job, access, { spoken, wanted, sorted, json: jsonFormOf(job, spoken) });
  if (job.json === undefined || !attempt.lacksFormat) return attempt;
  return await buildChat(job, access, { spoken, wanted, sorted, json: jsonFormOf(job, spoken, true) });
}

/** OpenAI's own address, and one that its variable leads to, are spoken to by its own client. */
function interfaceOf({ provider: { name, engine, baseUrl } }: Access): InterfaceName | 'openai-chat' {
  if (engine !== 'openai') return engine;
  const isOfficial = /(?:^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname);
  return name === 'openai' || isOfficial ? 'openai-chat' : 'openai';
}

interface Chat {
  readonly spoken: Interface;
  readonly wanted: Wanted;
  readonly sorted: SortedOptions;
}

async function buildChat(
  job: PromptJob,
  access: Access,
  { spoken, wanted, sorted, json }: Chat & { json: JsonForm },
): Promise<BuiltRequest & { lacksFormat: boolean }> {
  const { model, prompt, onText } = job;
  const form = spoken.form(wanted);
  const { known, others } = sorted;
  const count = known.get('n');
  const target = targetOf(model);
  const effort = known.get('reasoningEffort');
  const extras: Extras = {
    effort: effort === undefined ? undefined : textOrJson(effort),
    strict: json.strict,
    reasons: target && reasons(target),
  };
  const { topK, ...options } = callOptions(sorted);
  const call: LanguageModelV4CallOptions = {
    ...options,
    ...(spoken.topK === undefined && topK !== undefined && { topK }),
    prompt: clientMessages(prompt.messages, { words: json.words, systemFirst: spoken.systemFirst }),
    headers: { 'user-agent': USER_AGENT },
    ...(json.responseFormat && { responseFormat: json.responseFormat }),
  };
  const streams = onText !== undefined && !(typeof count === 'number' && count > 1);
  const { request, warnings, hasEffort } = await captureWithEffort(spoken, extras, options =>
    capture(access, streams ? '' : JSON.stringify(form.empty), async settings => {
      const client = await spoken.language(settings, wanted);
      if (!streams) return (await client.doGenerate({ ...call, ...options })).warnings;
      const reader = (await client.doStream({ ...call, ...options })).stream.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      return value?.type === 'stream-start' ? value.warnings : [];
    }),
  );
  const { notes, leftOut } = clientNotes(warnings, model, sorted);
  if (!hasEffort && !leftOut.has('reasoningEffort')) notes.push(leftOutNote(model, 'reasoningEffort'));
  if (count !== undefined && spoken.count === undefined) notes.push(leftOutNote(model, 'n'));
  const fields = {
    ...(spoken.topK !== undefined && topK !== undefined && { [spoken.topK]: topK }),
    ...(spoken.count !== undefined && count !== undefined && { [spoken.count]: count }),
    ...others,
    ...json.fields,
  };
  const own = jsonBody(request);
  const { schema } = job.json ?? {};
  for (const keyword of droppedKeywords(schema, own)) {
    notes.push(leftOutNote(model, `the schema's ${keyword}`));
  }
  const asFields = spoken.configIn === undefined ? snakeCased : geminiFields;
  return {
    ...encoded(request, merged({ ...spoken.defaults, ...own }, asFields(fields))),
    form,
    hasJsonTool: own['tools'] !== undefined || own['toolConfig'] !== undefined,
    options: new Set([...known.keys()].filter(key => !leftOut.has(key))),
    warnings: [...sorted.warnings, ...notes],
    lacksFormat: warnings.some(
      warning => warning.type === 'unsupported' && warning.feature === 'responseFormat',
    ),
  };
}

/** The options that requests for pictures have a place for. */
const DRAWING_OPTIONS: ReadonlySet<OptionName> = new Set(['seed', 'n']);

async function buildDrawing(
  job: PromptJob,
  access: Access,
  { spoken, wanted, sorted }: Chat,
): Promise<BuiltRequest> {
  const { image } = spoken;
  const advice = spoken.insteadOf?.(wanted) ?? (image ? undefined : 'name a model of another provider');
  if (image === undefined || advice !== undefined) {
    throw new ProviderFault(`can't be asked for pictures of ${wanted.id}`, { advice, isRefused: true });
  }
  const { call, others } = drawingCall(job, spoken.ratioAs?.(wanted) ?? 'ratio', sorted);
  const { request, warnings } = await capture(access, JSON.stringify(DRAWN.empty), async settings => {
    const client = await image(settings, wanted);
    if (call.files && (await client.supportsFileInputs) === false) {
      throw new Error(`${wanted.id} draws, but changes no pictures`);
    }
    return (await client.doGenerate(call)).warnings;
  });
  const { notes, leftOut } = clientNotes(warnings, job.model, sorted);
  const lost = [...sorted.known.keys()].filter(key => !DRAWING_OPTIONS.has(key) && !leftOut.has(key));
  return {
    ...(await withFields(request, snakeCased(others))),
    form: DRAWN,
    hasJsonTool: false,
    options: new Set([...sorted.known.keys()].filter(key => !leftOut.has(key) && !lost.includes(key))),
    warnings: [
      ...sorted.warnings,
      ...notes,
      ...lost.map(key => leftOutNote(job.model, key)),
      ...drawingNotes(warnings, job.model, call),
    ],
    ...(spoken.drawsLater?.(wanted) && { resultUrl: new URL(`${request.url.href}/get_result`) }),
  };
}

/**
 * Captures a request with the effort in the provider's own word for it. If the client refuses that word, it is asked with
 * the word that clients share, and at last without any.
 */
async function captureWithEffort(
  spoken: Interface,
  extras: Extras,
  ask: (options: ReturnType<Interface['options']>) => Promise<CapturedCall>,
): Promise<CapturedCall & { hasEffort: boolean }> {
  const { effort } = extras;
  const without = spoken.options({ ...extras, effort: undefined });
  if (effort === undefined) return { ...(await ask(without)), hasEffort: true };
  for (const options of [spoken.options(extras), { ...without, ...sharedEffort(effort) }]) {
    if (isDeepStrictEqual(options, without)) continue;
    try {
      return { ...(await ask(options)), hasEffort: true };
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
    }
  }
  return { ...(await ask(without)), hasEffort: false };
}

/** A request as a client hands it to `fetch`. */
type Captured = Pick<ProviderRequest, 'url' | 'method' | 'headers'> & { readonly body: unknown };

/** A client's request, with what the client says of it. */
interface CapturedCall {
  readonly request: Captured;
  readonly warnings: readonly SharedV4Warning[];
}

/** Lets a client make its request, and hands it an answer that is none. */
async function capture(
  { provider, key }: Access,
  answer: string,
  ask: (settings: ClientSettings) => Promise<readonly SharedV4Warning[]>,
): Promise<CapturedCall> {
  const captured: Captured[] = [];
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    captured.push({
      url: new URL(input instanceof Request ? input.url : input),
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body,
    });
    const type = answer === '' ? 'text/event-stream' : 'application/json';
    return new Response(answer, { headers: { 'content-type': type } });
  };
  // A client without a key would look for one, or send a header without it.
  const settings = { baseURL: provider.baseUrl, apiKey: key ?? 'none', headers: {}, fetch };
  let warnings: readonly SharedV4Warning[] = [];
  try {
    warnings = await ask(settings);
  } catch (error) {
    // What it makes of the empty answer does not matter.
    if (captured.length === 0) {
      throw new ProviderFault(`'s client can't ask this: ${messageOf(error)}`, { isRefused: true });
    }
  }
  const [request] = captured;
  if (!request) throw new ProviderFault("'s client asked nothing", { isRefused: true });
  return { request, warnings };
}

function jsonBody({ body }: Captured): Readonly<Record<string, unknown>> {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isJsonObject(value) ? value : {};
}

function encoded({ url, method, headers }: Captured, body: object): ProviderRequest {
  return { url, method, headers, body: Buffer.from(JSON.stringify(body)) };
}

/** Pictures that are to be changed go as a form. */
async function withFields(
  request: Captured,
  fields: Readonly<Record<string, unknown>>,
): Promise<ProviderRequest> {
  const { body, headers } = request;
  if (!(body instanceof FormData)) return encoded(request, merged(jsonBody(request), fields));
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
