/** Request header in which a command-line client sends the resources hash it holds (interface §4.6). */
export const CLI_AGENT_HEADER = 'cli-agent';
/** Response header whose presence asks the client to refresh its resources (interface §4.6). */
export const ACTION_REQUIRE_HEADER = 'action-require';
