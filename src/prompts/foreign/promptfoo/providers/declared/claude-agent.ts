import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
  withoutUndefined,
} from '../../../../../files/formats/json.ts';
import { toTextOrEmpty } from '../../../../../files/formats/json-fields.ts';
import type { YamlValue } from '../../../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../../../utils/bounded-json.ts';
import type { ConversionContext } from '../../conversion-context.ts';

/** Matches promptfoo's names for Claude's Agent SDK. */
export const CLAUDE_AGENT_ID = /^anthropic:claude-(?:agent-sdk|code)$/u;

/** The options of the SDK by promptfoo's keys. */
const CLAUDE_OPTIONS: Readonly<Record<string, string>> = {
  max_turns: 'maxTurns',
  model: 'model',
  fallback_model: 'fallbackModel',
  strict_mcp_config: 'strictMcpConfig',
  permission_mode: 'permissionMode',
  plan_mode_instructions: 'planModeInstructions',
  max_thinking_tokens: 'maxThinkingTokens',
  skills: 'skills',
  max_budget_usd: 'maxBudgetUsd',
  agents: 'agents',
  output_format: 'outputFormat',
  settings: 'settings',
  betas: 'betas',
  thinking: 'thinking',
  effort: 'effort',
  agent: 'agent',
  sandbox: 'sandbox',
  allow_dangerously_skip_permissions: 'allowDangerouslySkipPermissions',
  extra_args: 'extraArgs',
  setting_sources: 'settingSources',
  tools: 'tools',
  persist_session: 'persistSession',
};

/** Other keys that are converted, or that don't change the request. */
const CLAUDE_OTHER_KEYS = [
  'apiKey',
  'apiKeyRequired',
  'working_dir',
  'plugins',
  'additional_directories',
  'custom_system_prompt',
  'append_system_prompt',
  'custom_allowed_tools',
  'append_allowed_tools',
  'allow_all_tools',
  'disallowed_tools',
  'mcp',
  'cache_mcp',
  'debug',
  'include_partial_messages',
];

/** Keys that change the request, and have no equivalent. */
const CLAUDE_UNSUPPORTED_KEYS = [
  'ask_user_question',
  'hooks',
  'can_use_tool',
  'env',
  'resume',
  'continue',
  'fork_session',
  'resume_session_at',
  'session_id',
  'exclude_dynamic_sections',
  'managed_settings',
  'tool_config',
  'permission_prompt_tool_name',
  'executable',
  'executable_args',
  'path_to_claude_code_executable',
  'enable_file_checkpointing',
  'task_budget',
  'on_elicitation',
];

/** The tools that promptfoo allows in a `working_dir` by default. */
const READ_ONLY_TOOLS = ['Glob', 'Grep', 'LS', 'Read'];

/**
 * Returns the settings of a call of the SDK. Reports a `config` without an equivalent, and returns
 * undefined.
 */
export function readClaudeAgentCall(
  config: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): JsonObject | undefined {
  const omissionsBefore = conversion.omissionCount;
  const supportedKeys = [...Object.keys(CLAUDE_OPTIONS), ...CLAUDE_OTHER_KEYS];
  conversion.reportKeys(
    config,
    { supported: supportedKeys, unsupported: CLAUDE_UNSUPPORTED_KEYS },
    { owner: "a provider's config" },
  );

  const mcp = config.get('mcp');
  const mcpServers = mcp ? toSdkServers(mcp.toJson()) : {};
  if (mcp && mcpServers === undefined) {
    conversion.reportOmission(mcp, "`mcp` of a provider's config has no equivalent");
  }

  if (conversion.omissionCount > omissionsBefore) return undefined;

  const readValue = (key: string): JsonValue | undefined => config.get(key)?.toJson();
  return {
    options: buildSdkOptions(readValue, mcpServers),
    ...withoutUndefined({
      folder: readValue('working_dir'),
      plugins: readValue('plugins'),
      additionalDirectories: readValue('additional_directories'),
    }),
  };
}

type ReadValue = (key: string) => JsonValue | undefined;

function buildSdkOptions(readValue: ReadValue, mcpServers: JsonObject | undefined): JsonObject {
  const settings = Object.entries(CLAUDE_OPTIONS)
    .map(([key, optionName]) => [optionName, readValue(key)] as const)
    .filter(([, setting]) => setting !== undefined);
  const preset = withoutUndefined({
    type: 'preset',
    preset: 'claude_code',
    append: readValue('append_system_prompt'),
  });

  const options: Record<string, JsonValue | undefined> = {
    strictMcpConfig: true,
    ...Object.fromEntries(settings),
    systemPrompt: readValue('custom_system_prompt') || preset,
    allowedTools: listAllowedTools(readValue),
    disallowedTools: readValue('disallowed_tools'),
    mcpServers,
  };
  // The SDK calls this mode `default`.
  if (options['permissionMode'] === 'manual') options['permissionMode'] = 'default';
  return withoutUndefined(options);
}

function listAllowedTools(readValue: ReadValue): JsonValue | undefined {
  if (readValue('allow_all_tools') === true) return undefined;

  const customTools = readValue('custom_allowed_tools');
  const defaultTools = readValue('working_dir') ? READ_ONLY_TOOLS : [];
  const tools =
    customTools === undefined
      ? [...defaultTools, ...toTexts(readValue('append_allowed_tools'))]
      : toTexts(customTools);
  return [...new Set(tools)].toSorted();
}

function toTexts(value: JsonValue | undefined): string[] {
  return isJsonList(value) ? value.map(toTextOrEmpty) : [];
}

/**
 * Returns the servers as the SDK takes them; undefined if one needs more than a command or an
 * address.
 */
function toSdkServers(mcp: JsonValue): JsonObject | undefined {
  const serverList = findOwnValue(mcp, 'servers');
  const singleServer = findOwnValue(mcp, 'server');
  const servers = isJsonList(serverList) ? [...serverList] : [];
  if (singleServer !== undefined) servers.push(singleServer);

  const entries: [string, JsonValue][] = [];
  for (const server of servers) {
    if (!isJsonObject(server) || 'auth' in server || 'path' in server) return undefined;

    const url = findOwnValue(server, 'url');
    const command = findOwnValue(server, 'command');

    const name = toTextOrEmpty(findOwnValue(server, 'name') ?? url ?? command ?? 'default');
    if (url !== undefined) {
      const headers = findOwnValue(server, 'headers');
      entries.push([name, { type: 'http', url, headers: headers === undefined ? {} : headers }]);
    } else if (command === undefined) {
      return undefined;
    } else {
      const args = findOwnValue(server, 'args');
      entries.push([name, { type: 'stdio', command, args: args === undefined ? [] : args }]);
    }
  }

  return Object.fromEntries(entries);
}
