import type { EngineJob } from '../../../src/service/engines/engine.ts';
import type { ModelEntry } from '../../../src/service/models/entry.ts';
import { parsePromptFile } from '../../../src/service/prompts/parse.ts';
import { renderPrompt } from '../../../src/service/prompts/render.ts';

export interface JobOptions {
  template?: string;
  images?: Buffer[];
  model?: Partial<ModelEntry>;
  runOptions?: Record<string, string>;
  signal?: AbortSignal;
  sleep?: EngineJob['sleep'];
}

/** A job of a template without text inputs. */
export function jobOf({
  template = 'Hello',
  images = [],
  model,
  runOptions = {},
  signal,
  sleep,
}: JobOptions): EngineJob {
  const loaded = images.map(bytes => ({ bytes, mediaType: 'image/png' }));
  return {
    model: { model: 'echo', modality: 'text', engine: 'echo', runOptions: [], credits: 1, ...model },
    prompt: renderPrompt(parsePromptFile(template, 'x.prompt'), { textInputs: {}, images: loaded }),
    runOptions,
    signal: signal ?? new AbortController().signal,
    sleep: sleep ?? (() => Promise.reject(new Error('nobody asked to sleep'))),
  };
}
