import type {
  ContentBlockParam,
  MessageCreateParams,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { Message } from '../../../prompts/render/render-prompt.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { type EngineJob, textOf } from '../../engine.ts';
import type { ModelEntry } from '../../entry.ts';
import { requestParameters } from '../openai/parameters.ts';

/** The interface wants a limit; the models of the first generation with pictures take no more than 4,096. */
const MAX_TOKENS = 8192;
const MAX_TOKENS_CLAUDE_3 = 4096;

/** Settings of other interfaces that this one has no place for. */
const UNKNOWN = new Set([
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'reasoningEffort',
  'maxOutputTokens',
  'stopSequences',
]);

/** What a request for a message holds. */
export function messageParameters(job: EngineJob): MessageCreateParams {
  const { model, prompt, runOptions, onText } = job;
  const name = model.id ?? model.model;
  const own = Object.fromEntries(Object.entries(runOptions).filter(([key]) => !UNKNOWN.has(key)));
  const { max_tokens: limit, stop, reasoning_effort: effort } = requestParameters(runOptions, model);
  const format = formatOf(job);
  const parameters = requestParameters(own, model);
  const config = parameters['output_config'];
  const output = {
    ...(isJsonObject(config) ? config : {}),
    ...(effort === undefined ? {} : { effort }),
    ...(format === undefined ? {} : { format }),
  };
  // What the request is about can't be replaced by an option of the same name.
  return {
    ...parameters,
    ...(stop === undefined ? {} : { stop_sequences: Array.isArray(stop) ? (stop as unknown[]) : [stop] }),
    ...(Object.keys(output).length > 0 ? { output_config: output } : {}),
    max_tokens: limit ?? (/claude-3-(?:opus|sonnet|haiku)/.test(name) ? MAX_TOKENS_CLAUDE_3 : MAX_TOKENS),
    model: name,
    ...conversation(prompt.messages),
    stream: onText !== undefined,
  } as MessageCreateParams;
}

/** Structured outputs for the models that have them; the others are only asked in the prompt. */
function formatOf({ model, json }: EngineJob): object | undefined {
  const { responseFormat = hasStructuredOutputs(model) ? 'json_schema' : 'none' } = model;
  if (!isJsonObject(json?.schema) || responseFormat !== 'json_schema' || !isClosed(json.schema)) {
    return undefined;
  }
  return { type: 'json_schema', schema: json.schema };
}

function hasStructuredOutputs({ model, id = model }: ModelEntry): boolean {
  return !/claude-(?:instant|[23]\b|(?:opus|sonnet)-4(?:-0|-2025\d{4})?$)/.test(id);
}

/** Structured outputs need every object closed to properties that it does not name. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isJsonObject(schema)) return true;
  const isOpen = schema['type'] === 'object' && schema['additionalProperties'] !== false;
  return !isOpen && Object.values(schema).every(isClosed);
}

/** System parts stand apart from the messages; a prompt of nothing else is what the user says. */
function conversation(messages: readonly Message[]): { system?: string; messages: MessageParam[] } {
  const system = messages.filter(({ role }) => role === 'system').map(({ parts }) => textOf(parts));
  const text = system.filter(part => part !== '').join('\n\n');
  const others = messages.filter(({ role }) => role !== 'system').map(messageParam);
  if (others.length === 0) return { messages: [{ role: 'user', content: text }] };
  return { ...(text === '' ? {} : { system: text }), messages: others };
}

function messageParam({ role, parts }: Message): MessageParam {
  if (role === 'model') return { role: 'assistant', content: textOf(parts) };
  if (parts.every(part => 'text' in part)) return { role: 'user', content: textOf(parts) };
  const content = parts.flatMap((part): ContentBlockParam[] => {
    if ('text' in part) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    const data = part.image.bytes.toString('base64');
    const media_type = part.image.mediaType as 'image/png';
    return [{ type: 'image', source: { type: 'base64', media_type, data } }];
  });
  return { role: 'user', content };
}
