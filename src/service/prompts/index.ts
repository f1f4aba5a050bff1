export { promptConfig } from './config.ts';
export { InvalidPromptFile, type PromptDefinition, type TextInput } from './definition.ts';
export { parsePromptFile } from './parse.ts';
export { type RenderInputs, renderPrompt } from './render.ts';
export type { Message, MessagePart, RenderedPrompt } from './rendered.ts';
export { type Sample, samples } from './samples.ts';
