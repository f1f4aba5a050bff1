import type { EngineJob } from '../../src/models/engine.ts';
import type { ModelEntry, Provider } from '../../src/models/model-entry.ts';
import { parsePromptFile } from '../../src/prompts/parse/parse-prompt.ts';
import { describeImage } from '../../src/prompts/render/describe-image.ts';
import type { LoadedImage } from '../../src/prompts/render/loaded-image.ts';
import {
  completeTemplate,
  type MessagePart,
  type RenderedPrompt,
} from '../../src/prompts/render/render-prompt.ts';
import { FULL_LIMITS, performTask } from '../../src/prompts/tasks/perform-task.ts';
import { renderTemplate } from '../../src/prompts/template/render-template.ts';
import { InputImage } from '../../src/prompts/template/template-values.ts';

/** Returns a provider of the interface `openai` at an address of the test's. */
export function providerAt(
  baseUrl: string,
  { name = 'corner', keyVariable, ...more }: Partial<Provider> & { keyVariable?: string } = {},
): Provider {
  const keyVariables = keyVariable === undefined ? [] : [keyVariable];
  return {
    name,
    baseUrl,
    interfaceName: 'openai',
    keyVariables,
    needsKey: keyVariable !== undefined,
    ...more,
  };
}

export interface JobOptions {
  template?: string;
  images?: Buffer[];
  model?: Partial<ModelEntry>;
  runOptions?: Record<string, unknown>;
  signal?: AbortSignal;
  sleep?: EngineJob['sleep'];
  json?: EngineJob['json'];
  onText?: EngineJob['onText'];
  inputs?: EngineJob['inputs'];
}

/** Returns a job of a template without text inputs. */
export function createJob({
  template = 'Hello',
  images = [],
  model,
  runOptions = {},
  signal,
  sleep,
  json,
  onText,
  inputs = { texts: {}, values: {} },
}: JobOptions): EngineJob {
  const loaded = images.map(bytes => ({ bytes, mediaType: 'image/png' }));
  return {
    runId: '11111111-1111-4111-8111-111111111111',
    inputs,
    selectValues: (text, expressions) => performTask('select', { text, expressions }, FULL_LIMITS),
    model: {
      model: 'echo',
      modality: 'text',
      engine: 'echo',
      runOptions: [],
      credits: 1,
      ...model,
    },
    prompt: renderPrompt(template, loaded),
    runOptions,
    json,
    onText,
    signal: signal ?? new AbortController().signal,
    sleep: sleep ?? (() => Promise.reject(new Error('nobody asked to sleep'))),
  };
}

function renderPrompt(template: string, images: readonly LoadedImage[]): RenderedPrompt {
  const pictures = images.map((image, index) => new InputImage(index, describeImage(image)));
  const definition = parsePromptFile(template, 'x.prompt');
  const inputs = Object.fromEntries(
    definition.imageInputs.map(({ key }, index) => [key, pictures[index]]),
  );
  const messages = renderTemplate(completeTemplate(definition), { inputs }).map(
    ({ role, content }) => ({
      role,
      parts: content.flatMap((part): MessagePart[] => {
        if ('text' in part) return [part];
        const image = 'media' in part ? images[part.media.imageIndex ?? -1] : undefined;
        return image ? [{ image }] : [];
      }),
    }),
  );
  const texts = messages.map(({ parts }) =>
    parts.map(part => ('text' in part ? part.text : describeImage(part.image))).join(''),
  );

  return { messages, text: texts.join('\n\n') };
}
