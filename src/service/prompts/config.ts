import type { PromptConfig, TextInputConfig } from '../../wire/index.ts';
import type { PromptDefinition, TextInput } from './definition.ts';

/** The inputs of a prompt as the service shows them (service-facts, shape (a)). */
export function promptConfig({ textInputs, imageInputs }: PromptDefinition): PromptConfig {
  return {
    // fromEntries makes an input named `__proto__` a key like any other.
    textInputs: Object.fromEntries(textInputs.map(input => [input.key, textInputConfig(input)])),
    imageInputs: imageInputs.map(({ description }) => (description === undefined ? {} : { description })),
  };
}

function textInputConfig({
  type,
  description,
  required,
  default: given,
  enum: choices,
}: TextInput): TextInputConfig {
  return {
    type,
    ...(description === undefined ? {} : { description }),
    required,
    ...(given === undefined ? {} : { default: given }),
    ...(choices === undefined ? {} : { enum: [...choices] }),
  };
}
