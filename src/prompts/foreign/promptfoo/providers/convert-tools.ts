import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { isJsonObject, readTextAt } from '../../../../utils/bounded-json.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { NUNJUCKS_TAG } from '../nunjucks/split-nunjucks.ts';

/** Matches the ids of providers whose tool calls promptfoo returns as the answer. */
const PROVIDER_WITH_TOOLS =
  /^(?:(?:openai|openrouter|groq|deepseek|github|xai|mistral|togetherai|fireworks|cerebras):(?!responses:)|anthropic:)/u;

/**
 * Returns our settings for a key of a `config` that concerns tools; undefined for any other key, or
 * if they have no equivalent.
 */
export function convertTools(
  id: string,
  key: string,
  entry: YamlValue,
  conversion: ConversionContext,
): JsonObject | undefined {
  const isClaude = id.startsWith('anthropic:');
  if (!PROVIDER_WITH_TOOLS.test(id) || NUNJUCKS_TAG.test(JSON.stringify(entry.toJson()))) {
    return undefined;
  }

  if (key === 'tool_choice') {
    return { [key]: isClaude ? toClaudeChoice(entry.toJson()) : entry.toJson() };
  }

  if (isClaude && key !== 'tools') return undefined;
  if (key === 'function_call') return { [key]: entry.toJson() };
  if (key !== 'tools' && key !== 'functions') return undefined;

  const tools = loadTools(entry, conversion);
  if (!isJsonList(tools) || NUNJUCKS_TAG.test(JSON.stringify(tools))) return undefined;

  const convertedTools = isClaude && isOpenAiTool(tools[0]) ? tools.map(toClaudeTool) : tools;
  const areSupported =
    key === 'functions' || convertedTools.every(isClaude ? isClaudeTool : isOpenAiTool);
  return areSupported ? { [key]: convertedTools } : undefined;
}

/**
 * Returns code of a transform that turns the tool calls in an answer from JSON into values;
 * undefined without tools, and for Claude, whose calls are text in promptfoo.
 */
export function buildCallsTransform(id: string, settings: JsonObject): string | undefined {
  const hasTools = 'tools' in settings || 'functions' in settings;
  if (!hasTools || id.startsWith('anthropic:')) return undefined;
  const callsOfMessage = id.startsWith('openrouter:')
    ? 'calls.function_call ?? calls.tool_calls'
    : 'calls';

  return `try {
  const calls = JSON.parse(output);
  const isCall = call => typeof (call?.function ?? call)?.arguments === 'string';
  if (Array.isArray(calls) ? calls.length > 0 && calls.every(isCall) : isCall(calls)) return calls;
  if (calls?.tool_calls?.length > 0 || calls?.function_call) return ${callsOfMessage};
} catch {}
return output;`;
}

/**
 * Returns tools with the files that they name loaded. As in promptfoo, a list that has only lists
 * is flattened.
 */
function loadTools(node: YamlValue, conversion: ConversionContext): JsonValue {
  const { scalar } = node;
  if (scalar !== undefined && /^file:\/\/.+\.(?:json|ya?ml)$/u.test(scalar)) {
    return conversion.files.readYaml(scalar, node).toJson();
  }
  if (!node.isList) return node.toJson();
  const items = node.readItems('tools').map(item => loadTools(item, conversion));
  return items.every(isJsonList) ? items.flat() : items;
}

function isOpenAiTool(tool: JsonValue | undefined): boolean {
  return (
    findOwnValue(tool, 'type') === 'function' && readTextAt(tool, 'function', 'name') !== undefined
  );
}

/** Returns true for a tool that Claude calls, rather than one that its service runs. */
function isClaudeTool(tool: JsonValue): boolean {
  const [type, strict] = ['type', 'strict'].map(key => findOwnValue(tool, key));
  return isJsonObject(tool) && (type === undefined || type === 'custom') && strict !== true;
}

function toClaudeTool(tool: JsonValue): JsonValue {
  const {
    name = null,
    description,
    parameters,
  } = (findOwnValue(tool, 'function') ?? {}) as JsonObject;
  return {
    name,
    ...(description && { description }),
    input_schema: parameters || { type: 'object', properties: {} },
  };
}

function toClaudeChoice(choice: JsonValue): JsonValue {
  if (choice === 'auto' || choice === 'none') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  const name = readTextAt(choice, 'function', 'name');
  return name !== undefined && findOwnValue(choice, 'type') === 'function'
    ? { type: 'tool', name }
    : choice;
}
