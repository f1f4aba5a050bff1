import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG } from '../../core/shared-flags.ts';

export const MCP = {
  path: 'mcp',
  summary: 'offer prompts to agents over the Model Context Protocol',
  flags: [
    ['--prompts <dir>', 'also offer the prompt files in this directory'],
    ['--allow <prompt>', 'allow only this prompt; repeatable', { repeats: true }],
    MODELS_FLAG,
    ...CAP_FLAGS,
  ],
  examples: ['mcp', 'mcp --allow hello --max-credits 100', 'mcp --prompts ./prompts'],
  notes: `Speaks the protocol on standard input and output; notes go to standard error.
Most clients accept this in their configuration (.mcp.json, mcp.json, \
claude_desktop_config.json):

  {"mcpServers": {"promptrun": {"command": "promptrun", "args": ["mcp"]}}}

VS Code (.vscode/mcp.json) calls the object "servers". For Claude Code, run \
claude mcp add promptrun "--" promptrun mcp. More: promptrun help agents`,
} as const satisfies CommandSpec;
