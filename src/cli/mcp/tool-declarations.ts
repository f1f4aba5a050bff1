import type { Tool } from '@modelcontextprotocol/server';
import { didYouMean } from '../../utils/nearest-name.ts';
import { usageError } from '../core/errors.ts';
import type { ToolArguments } from './tool-arguments.ts';

const PROMPT_NAME = {
  type: 'string',
  description: 'its name as search_prompts returns it',
} as const;

/** The tools that an agent sees. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'search_prompts',
    title: 'Search prompts',
    description:
      'Finds published prompts by words, with the inputs they take. Free. Without words, lists all of them.',
    inputSchema: {
      type: 'object',
      properties: { words: { type: 'string', description: 'what to look for' } },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'run_prompt',
    title: 'Run a prompt',
    description:
      "Runs a prompt and returns the model's output (text, pictures), the id of the run and its cost. It may cost money.",
    inputSchema: {
      type: 'object',
      properties: {
        prompt: PROMPT_NAME,
        inputs: { type: 'object', description: 'a value for each text input, by its name' },
        images: {
          type: 'array',
          items: { type: 'string' },
          description:
            'image inputs in their order: https URLs, or paths below the working directory',
        },
        options: { type: 'object', description: 'run options of the model, such as quality' },
      },
      required: ['prompt'],
      additionalProperties: false,
    },
  },
  {
    name: 'get_run',
    title: 'Wait for a run',
    description:
      'Waits for a run that was still running when its call ended, and returns its outputs. Costs nothing more.',
    inputSchema: {
      type: 'object',
      properties: {
        run: { type: 'string', description: 'the id of the run, as progress or a result named it' },
      },
      required: ['run'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
];

/**
 * Refuses arguments that a tool does not have, so that no run is paid for without them.
 *
 * @throws {CliError}
 */
export function checkArguments({ name, inputSchema }: Tool, args: ToolArguments): void {
  const names = Object.keys(inputSchema.properties ?? {});
  const unknownName = Object.keys(args).find(argument => !names.includes(argument));
  if (unknownName === undefined) return;
  throw usageError(
    `${name} has no argument ${JSON.stringify(unknownName)}${didYouMean(unknownName, names)}`,
    `Its arguments: ${names.join(', ')}`,
  );
}
