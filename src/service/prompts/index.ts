export { checkModel } from './check-model.ts';
export { promptConfig } from './config.ts';
export { InvalidPromptFile, type PromptDefinition, type TextInput } from './definition.ts';
export { type LoadedPrompts, loadPromptFiles, readPromptFile } from './files.ts';
export { parsePromptFile } from './parse.ts';
export { type RenderInputs, renderPrompt } from './render.ts';
export type { Message, MessagePart, RenderedPrompt } from './rendered.ts';
export { type Sample, samples } from './samples.ts';
export { type PromptWatch, type WatchedPrompts, watchPromptFiles } from './watch.ts';
