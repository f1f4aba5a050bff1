import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG } from '../../core/shared-flags.ts';

export const MCP = {
  path: 'mcp',
  summary: 'prompts for agents, over the Model Context Protocol',
  flags: [
    ['--prompts <dir>', 'offer the prompt files there too'],
    ['--allow <prompt>', 'only this prompt can be run; repeatable', { repeats: true }],
    MODELS_FLAG,
    ...CAP_FLAGS,
  ],
  examples: ['mcp', 'mcp --allow hello --max-credits 100', 'mcp --prompts ./prompts'],
  notes: `Speaks the protocol on standard input and output; notes go to standard error.
Most clients take this in their configuration (.mcp.json, mcp.json, \
claude_desktop_config.json):

  {"mcpServers": {"promptrun": {"command": "promptrun", "args": ["mcp"]}}}

VS Code (.vscode/mcp.json) calls it "servers"; Claude Code adds it with \
claude mcp add promptrun -- promptrun mcp. More: promptrun help agents`,
} as const satisfies CommandSpec;
