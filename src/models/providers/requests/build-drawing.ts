import type { ImageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { withoutUndefined } from '../../../files/formats/json.ts';
import { toTextOrJson } from '../../../files/formats/json-fields.ts';
import type { UncheckedObject } from '../../../utils/bounded-json.ts';
import { joinMessageText, type PromptJob } from '../../engine.ts';
import type { ModelEntry, OptionName } from '../../model-entry.ts';
import { USER_AGENT } from '../../outgoing/open-http.ts';
import { IMAGES } from '../answers/formats/images.ts';
import { ProviderFault } from '../answers/provider-fault.ts';
import type { ProviderAccess } from '../provider-access.ts';
import type { ProviderRequest } from '../send-request.ts';
import {
  type BuiltRequest,
  parseRequestBody,
  type RequestTarget,
  withBody,
} from './built-request.ts';
import { collectClientNotes, describeOmission, type SortedOptions } from './call-options.ts';
import { type CapturedRequest, captureRequest } from './capture-request.ts';
import { mergeFields, toSnakeCase } from './request-body.ts';

/** Options that requests for images support. */
const DRAWING_OPTIONS: ReadonlySet<OptionName> = new Set(['seed', 'n']);

/** Builds a request to an interface for images. */
export async function buildDrawing(
  job: PromptJob,
  access: ProviderAccess,
  { api, modelId, sortedOptions }: RequestTarget,
): Promise<BuiltRequest> {
  const { loadImageModel } = api;
  const advice =
    api.findDrawingAdvice?.(modelId) ??
    (loadImageModel ? undefined : 'use a model of another provider');
  if (loadImageModel === undefined || advice !== undefined) {
    throw new ProviderFault(`can't make pictures with ${modelId.id}`, { advice, isRefused: true });
  }

  const ratioField = api.chooseRatioField?.(modelId) ?? 'ratio';
  const { call, extraFields } = buildDrawingCall(job, ratioField, sortedOptions);
  const dummyAnswer = JSON.stringify(IMAGES.emptyAnswer);
  const { request, warnings } = await captureRequest(access, dummyAnswer, async settings => {
    const client = await loadImageModel(settings, modelId);
    if (call.files && (await client.supportsFileInputs) === false) {
      throw new Error(`${modelId.id} can make pictures, but not change them`);
    }
    return (await client.doGenerate(call)).warnings;
  });

  const { notes, omittedOptions } = collectClientNotes(warnings, job.model, sortedOptions);
  const optionNames = [...sortedOptions.standardOptions.keys()].filter(
    key => !omittedOptions.has(key),
  );
  const unsentNames = optionNames.filter(name => !DRAWING_OPTIONS.has(name));

  return {
    ...(await withFields(request, toSnakeCase(extraFields))),
    answerFormat: IMAGES,
    hasJsonTool: false,
    keepsToolCalls: false,
    refusableOptions: new Set(optionNames.filter(name => DRAWING_OPTIONS.has(name))),
    warnings: [
      ...sortedOptions.notes.map(({ note }) => note),
      ...notes,
      ...unsentNames.map(name => describeOmission(job.model, name)),
      ...collectDrawingNotes(warnings, job.model, call),
    ],
    ...(api.drawsAsynchronously?.(modelId) && {
      resultUrl: new URL(`${request.url.href}/get_result`),
    }),
  };
}

/** The nearest sizes that image models draw, by aspect ratio. */
const DRAWING_SIZES: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:2': '1536x1024',
  '4:3': '1536x1024',
  '16:9': '1536x1024',
  '2:3': '1024x1536',
  '3:4': '1024x1536',
  '9:16': '1024x1536',
};

/** Returns the call of an image model, and the options that its client has no place for. */
function buildDrawingCall(
  { prompt }: Pick<PromptJob, 'prompt'>,
  ratioField: 'size' | 'ratio',
  { standardOptions, otherOptions }: Pick<SortedOptions, 'standardOptions' | 'otherOptions'>,
): { call: ImageModelV4CallOptions; extraFields: UncheckedObject } {
  const texts = prompt.messages
    .map(({ parts }) => joinMessageText(parts))
    .filter(text => text !== '');
  const n = standardOptions.get('n');
  const seed = standardOptions.get('seed');
  const { size, aspectRatio, ...extraOptions } = otherOptions;
  const shape = chooseImageShape(size, aspectRatio, ratioField);
  const call: ImageModelV4CallOptions = {
    prompt: texts.join('\n\n'),
    n: typeof n === 'number' ? n : 1,
    size: shape.size,
    aspectRatio: shape.aspectRatio,
    seed: typeof seed === 'number' ? seed : undefined,
    files: collectImageFiles(prompt),
    mask: undefined,
    providerOptions: {},
    headers: { 'user-agent': USER_AGENT },
  };

  return { call, extraFields: { ...extraOptions, ...shape.fields } };
}

/**
 * Returns size and aspect ratio as a client takes them, and as fields if they have forms that it
 * doesn't take.
 */
function chooseImageShape(wantedSize: unknown, aspectRatio: unknown, ratioField: 'size' | 'ratio') {
  const ratio = isRatio(aspectRatio) ? aspectRatio : undefined;
  const nearestSize =
    ratioField === 'size' && ratio !== undefined ? DRAWING_SIZES[ratio] : undefined;
  const size = wantedSize ?? nearestSize;
  const replacesRatioBySize = ratioField === 'size' && size !== undefined;

  return {
    size: isSize(size) ? size : undefined,
    aspectRatio: replacesRatioBySize ? undefined : ratio,
    fields: withoutUndefined({
      size: isSize(size) ? undefined : size,
      aspectRatio: ratio === undefined ? aspectRatio : undefined,
    }),
  };
}

/**
 * Returns the images of a prompt; undefined if there are none, since the client edits images
 * even for an empty list.
 */
function collectImageFiles({ messages }: PromptJob['prompt']): ImageModelV4CallOptions['files'] {
  const images = messages.flatMap(({ parts }) =>
    parts.flatMap(part => ('image' in part ? [part.image] : [])),
  );
  if (images.length === 0) return undefined;
  return images.map(({ bytes, mediaType }) => ({ type: 'file', mediaType, data: bytes }));
}

/**
 * Returns notes on what a client left out of a request for an image, except for the common
 * options.
 */
function collectDrawingNotes(
  warnings: readonly SharedV4Warning[],
  model: ModelEntry,
  { size, aspectRatio }: Pick<ImageModelV4CallOptions, 'size' | 'aspectRatio'>,
): string[] {
  return warnings.flatMap(warning => {
    if (warning.type === 'other') return [`${model.id ?? model.model}: ${warning.message}`];
    if (warning.type !== 'unsupported') return [];
    const { feature } = warning;
    const isRequested =
      (feature === 'size' && size !== undefined) ||
      (feature === 'aspectRatio' && aspectRatio !== undefined);
    return isRequested ? [describeOmission(model, feature)] : [];
  });
}

function isSize(value: unknown): value is `${number}x${number}` {
  return typeof value === 'string' && /^\d{1,5}x\d{1,5}$/.test(value);
}

function isRatio(value: unknown): value is `${number}:${number}` {
  return typeof value === 'string' && /^\d{1,3}:\d{1,3}$/.test(value);
}

/** Adds fields to a request, whose body is JSON, or a form if it edits images. */
async function withFields(
  request: CapturedRequest,
  fields: UncheckedObject,
): Promise<ProviderRequest> {
  const { body, headers } = request;
  if (!(body instanceof FormData)) {
    return withBody(request, mergeFields(parseRequestBody(request), fields));
  }

  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) body.set(key, toTextOrJson(value));
  }

  const form = new Response(body);
  const contentType = form.headers.get('content-type') ?? '';

  return {
    ...request,
    headers: { ...headers, 'content-type': contentType },
    body: new Uint8Array(await form.arrayBuffer()),
  };
}
