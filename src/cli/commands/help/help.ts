import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { installedFile } from '../../../files/installed-file.ts';
import { didYouMean } from '../../core/nearest.ts';
import { usageError } from '../../errors.ts';

/** The variables that are read, as `help environment` prints them. */
const ENVIRONMENT_TOPIC = `Environment

  PROMPTRUN_BASE_URL    the address of the service; /v1 is added if missing
  PROMPTRUN_API_KEY     the key to send there
  PROMPTRUN_PROFILE     the profile to use
  PROMPTRUN_CONFIG_DIR  where profiles, keys, settings and caches are kept
  PROMPTRUN_DATA_DIR    where the local service keeps prompts, runs and media
  PROMPTRUN_STATE_DIR   where the journal of runs is kept
  PROMPTRUN_DATABASE_URL
                        PostgreSQL for serve, keys and users (postgres://…)
  PROMPTRUN_EXCLUSIVE_KEY
                        1: nobody else uses the key, so a run whose creation
                        was not answered may be taken from the list
  PROMPTRUN_RECORD, PROMPTRUN_REPLAY
                        what --record and --replay do, for every command
  PROMPTRUN_CASE        set for a test's command: the file with its case
  NO_COLOR              no colours, if not empty and FORCE_COLOR isn't set
  FORCE_COLOR           colours even in a pipe: 1, 2 or 3; 0 for none
  FORCE_HYPERLINK       0: no links on the terminal; anything else: links
  ACCESSIBLE            plain lines instead of spinners, questions and pictures
  CI                    nothing is asked
  PAGER                 what shows long results on a terminal; cat for none
  VISUAL, EDITOR        the editor for long answers
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                        the proxy for requests, and the hosts reached directly;
                        HTTP_PROXY is ignored if REQUEST_METHOD is set (CGI)
  NODE_EXTRA_CA_CERTS   a file with more certificate authorities to trust
  NODE_DISABLE_COMPILE_CACHE
                        1: compiled code, which makes the next start faster, is
                        not kept beside the installed command
  GITHUB_ACTIONS, GITHUB_STEP_SUMMARY
                        set by GitHub: test adds annotations and a job summary
  HOME, USERPROFILE, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, APPDATA,
  LOCALAPPDATA          where the directories above are by default
  TERM, TERM_PROGRAM, COLORTERM, VTE_VERSION, WT_SESSION, KITTY_WINDOW_ID, TMUX,
  STY                   what the terminal can do

Keys of models' providers, for this machine's own service:
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY,
  OPENROUTER_API_KEY, GROQ_API_KEY, MISTRAL_API_KEY, DEEPSEEK_API_KEY,
  XAI_API_KEY, TOGETHER_API_KEY, FIREWORKS_API_KEY, CEREBRAS_API_KEY
Where the providers are, if not at their usual address:
  OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GEMINI_BASE_URL, OPENROUTER_BASE_URL,
  GROQ_BASE_URL, MISTRAL_BASE_URL, DEEPSEEK_BASE_URL, XAI_BASE_URL,
  TOGETHER_BASE_URL, FIREWORKS_BASE_URL, CEREBRAS_BASE_URL, OLLAMA_BASE_URL or
  OLLAMA_HOST, LMSTUDIO_BASE_URL, LLAMACPP_BASE_URL, VLLM_BASE_URL

Flags win over the environment, and the environment wins over the profile.
--profile wins over PROMPTRUN_BASE_URL and PROMPTRUN_API_KEY. A profile's
stored key is only sent to that profile's origin: for another base URL the key
must come from PROMPTRUN_API_KEY. With nothing configured, the built-in service
is used (profile local).
`;

/** The table of exit codes, as `help exit-codes` prints it. */
const EXIT_CODES_TOPIC = `Exit codes

  0    done; the run succeeded (runs get of one that still runs: 0 as well)
  1    a fault outside of your hands: network, server, an answer that is not a
       valid envelope; standard output that can't be written during a run
  2    wrong use: flag, argument, input, configuration, a damaged store or file;
       400, 422 and every other 4xx of the service that is not named here
  3    not authorised: no key, 401, 402, 403
  4    not found: 404, 410; nothing in the journal for --last, or
       cached for --cached
  5    the run failed, or its output does not match --schema; some rows of a
       batch or some test cases did
  6    gave up waiting (--timeout); a run goes on, unless it ran on this machine
  7    rate limited (429) after all retries
  8    stopped at the cap of --max-cost or --max-credits; can be resumed
  130  ended by Ctrl-C
  143  ended by SIGTERM

130 and 143 outrank 6, which outranks 8, which outranks 5. An empty list is a
success. With --json an error is one line of JSON on standard error:
  {"status": "NOT_FOUND_ERROR", "message": "…", "data": null, "exitCode": 4}
If the fault is not the service's, status is USAGE_ERROR, CONFIG_ERROR,
NETWORK_ERROR, PROTOCOL_ERROR, FILE_ERROR, WAIT_TIMEOUT, CAP_REACHED,
INTERRUPTED or INTERNAL_ERROR.
`;

/** The flags that every command takes, as `help flags` prints them. */
function flagsTopic(root: Command): string {
  const rows = [
    ...root.options.map(({ flags, description }) => [flags, description]),
    ['-h, --help', 'explain the command'],
  ];
  const width = Math.max(...rows.map(([flags = '']) => flags.length));
  const lines = rows.map(([flags = '', description = '']) => `  ${flags.padEnd(width)}  ${description}`);
  return `Flags of every command, before or after its name\n\n${lines.join('\n')}\n`;
}

/** What `help <topic>` prints besides the help of commands. */
const TOPICS: Readonly<Record<string, string>> = {
  environment: ENVIRONMENT_TOPIC,
  'exit-codes': EXIT_CODES_TOPIC,
};

/** The guides by the names that `help` takes, and their files in docs/. */
export const GUIDES: Readonly<Record<string, string>> = {
  'prompt-files': 'prompt-files.md',
  tests: 'tests-and-recordings.md',
  batch: 'batch.md',
  services: 'services.md',
  models: 'models.md',
  serve: 'serve.md',
  agents: 'agents.md',
  moving: 'moving.md',
};

/** The text of a guide, undefined where none has this name. Throws Error where it is not installed. */
async function readGuide(name: string): Promise<string | undefined> {
  const guide = Object.hasOwn(GUIDES, name) ? GUIDES[name] : undefined;
  return guide === undefined ? undefined : readFile(installedFile(`docs/${guide}`), 'utf8');
}

const TOPICS_LINE = `Topics: flags, ${Object.keys(TOPICS).join(', ')}`;
export const GUIDES_LINE = `Guides: ${Object.keys(GUIDES).join(', ')}`;

/** Explains a topic, or a command however deep, as `--help` after its name does; or prints a guide. */
export async function help(words: readonly string[], _flags: object, command: Command): Promise<void> {
  const [name = ''] = words;
  const print = (text: string): void => command.configureOutput().writeOut?.(text);
  const topic = words.length === 1 ? topicOf(command, name) : undefined;
  if (topic !== undefined) return print(topic);
  const guide = words.length === 1 ? await readGuide(name) : undefined;
  if (guide !== undefined && !isCommand(command, name)) return print(guide);
  if (words.length === 1 && !isCommand(command, name)) throw unknownTopic(command, name);
  try {
    await command.parent?.parseAsync([...words, '--help'], { from: 'user' });
  } finally {
    // What shows a help ends by throwing.
    if (guide !== undefined) print(`\n${guide}`);
  }
}

function unknownTopic({ parent }: Command, name: string): Error {
  const commands = parent?.commands.flatMap(one => [one.name(), ...one.aliases()]) ?? [];
  const known = [...commands, 'flags', ...Object.keys(TOPICS), ...Object.keys(GUIDES)];
  return usageError(
    `unknown command '${name}'${didYouMean(name, known)}`,
    TOPICS_LINE,
    GUIDES_LINE,
    'See: promptrun --help',
  );
}

function isCommand({ parent }: Command, name: string): boolean {
  return parent?.commands.some(other => other.name() === name || other.aliases().includes(name)) === true;
}

function topicOf({ parent }: Command, name: string): string | undefined {
  if (name === 'flags' && parent !== null) return flagsTopic(parent);
  return Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
}
