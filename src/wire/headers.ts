/** Request header in which a command-line client sends the resources hash it holds (interface §4.6). */
export const CLI_AGENT_HEADER = 'cli-agent';
/** Response header whose presence asks the client to refresh its resources (interface §4.6). */
export const ACTION_REQUIRE_HEADER = 'action-require';
/** Request header that names a creation, so that the same one sent again gives the one run (service-facts, decisions). */
export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
/** Response header in which a service says that it keeps such keys for 24 hours (service-facts, decisions). */
export const IDEMPOTENCY_HEADER = 'idempotency';
/** The one value of `IDEMPOTENCY_HEADER`. */
export const IDEMPOTENCY_SUPPORTED = 'supported';
