import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { PromptJob } from '../../engine.ts';
import type { InterfaceName, OptionName } from '../../model-entry.ts';
import type { ProviderAccess } from '../provider-access.ts';
import { buildChat } from './build-chat.ts';
import { buildDrawing } from './build-drawing.ts';
import type { BuiltRequest, RequestTarget } from './built-request.ts';
import { type SortedOptions, sortOptions } from './call-options.ts';
import { chooseJsonForm } from './json-form.ts';
import { PROVIDER_INTERFACES } from './provider-interfaces.ts';

/**
 * Builds the request to a provider. The client of the interface makes it and gets an empty answer
 * back, so that it reports what it left out without sending anything.
 *
 * @param refusedOptions options that this model has refused before
 * @throws {ProviderFault} if the client can't express the request
 */
export async function buildRequest(
  job: PromptJob,
  access: ProviderAccess,
  refusedOptions: ReadonlySet<OptionName> = new Set(),
): Promise<BuiltRequest> {
  const { model } = job;
  const sortedOptions = sortOptions(job.runOptions, model, refusedOptions);
  const target: RequestTarget = {
    api: PROVIDER_INTERFACES[chooseInterface(access, sortedOptions)],
    modelId: { provider: access.provider.name, id: model.id ?? model.model },
    sortedOptions,
  };
  if (model.modality === 'image') return await buildImageRequest(job, access, target);

  return await buildTextRequest(job, access, target);
}

/**
 * Builds the request for a text. If the client can't send the format of the answer, the prompt asks
 * for it in words.
 */
async function buildTextRequest(
  job: PromptJob,
  access: ProviderAccess,
  target: RequestTarget,
): Promise<BuiltRequest> {
  const { api } = target;
  const request = await buildChat(job, access, { ...target, json: chooseJsonForm(job, api) });
  if (job.json === undefined || !request.lacksResponseFormat) return request;
  return await buildChat(job, access, { ...target, json: chooseJsonForm(job, api, 'words') });
}

/**
 * Builds the request for an image: by chat or, if the model doesn't draw there, at the interface
 * for images.
 */
async function buildImageRequest(
  job: PromptJob,
  access: ProviderAccess,
  target: RequestTarget,
): Promise<BuiltRequest> {
  const { api, modelId, sortedOptions } = target;
  const { aspectRatio, ...otherOptions } = sortedOptions.otherOptions;
  const fields = api.buildChatDrawingFields?.(modelId, aspectRatio);
  if (fields === undefined) return await buildDrawing(job, access, target);

  const chatOptions = { ...sortedOptions, otherOptions: { ...otherOptions, ...fields } };
  return await buildChat(job, access, {
    ...target,
    sortedOptions: chatOptions,
    json: { isStrict: false },
  });
}

/**
 * Returns the interface of a request. OpenAI's own Chat Completions serve its own address and the
 * one in `OPENAI_BASE_URL`, and prompts with tools in their form, which Responses doesn't take.
 */
function chooseInterface(
  { provider: { name, interfaceName, baseUrl } }: ProviderAccess,
  { otherOptions }: SortedOptions,
): InterfaceName | 'openai-chat' {
  if (interfaceName === 'openai-responses' && hasChatTools(otherOptions)) return 'openai-chat';
  if (interfaceName !== 'openai') return interfaceName;
  const isOfficialHost = /(?:^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname);
  return name === 'openai' || isOfficialHost ? 'openai-chat' : 'openai';
}

/**
 * Returns true for tools as Chat Completions takes them: `{type: function, function: {name, …}}`.
 */
function hasChatTools({ tools, functions }: SortedOptions['otherOptions']): boolean {
  if (functions !== undefined) return true;
  return (
    Array.isArray(tools) && tools.some(tool => isJsonObject(tool) && isJsonObject(tool['function']))
  );
}
