import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';

/** The variables that are read, as `help environment` prints them. */
const ENVIRONMENT_TOPIC = `Environment

  PROMPTRUN_BASE_URL    the service's address; /v1 is added where it is missing
  PROMPTRUN_API_KEY     the key to send there
  PROMPTRUN_PROFILE     the profile to use
  PROMPTRUN_CONFIG_DIR  where profiles, keys, settings and caches are kept
  PROMPTRUN_DATA_DIR    where the local service keeps prompts, runs and media
  PROMPTRUN_DATABASE_URL
                        PostgreSQL for serve, keys and prompts publish (postgres://…)
  PROMPTRUN_STATE_DIR   where the journal of runs is kept
  PROMPTRUN_EXCLUSIVE_KEY
                        1: nobody else uses the key, so a run whose creation was not answered may be taken from
                        the list
  NO_COLOR              anything but an empty text: no colours, unless FORCE_COLOR is set
  FORCE_COLOR           colours even in a pipe: 1, 2 or 3; 0 for none
  ACCESSIBLE            plain lines instead of spinners, drawn questions and pictures
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                        the proxy for requests, and the hosts reached without it
  NODE_EXTRA_CA_CERTS   a file with further certificate authorities to trust
  NODE_DISABLE_COMPILE_CACHE
                        1: compiled code, which makes the next start faster, is not kept beside the installed command
  CI                    nothing is asked
  PAGER                 what shows long results on a terminal; cat for none

The local service also reads OPENAI_API_KEY and OPENAI_BASE_URL.

Flags win over the environment, the environment over the profile. --profile wins over PROMPTRUN_BASE_URL and
PROMPTRUN_API_KEY. A profile's stored key is only sent to that profile's origin: with another base URL the key must
come from PROMPTRUN_API_KEY. With nothing configured, the local service built in is used (profile local).
`;

/** The table of exit codes, as `help exit-codes` prints it. */
const EXIT_CODES_TOPIC = `Exit codes

  0    done; the run succeeded (runs get of one that still runs: 0 as well)
  1    a fault outside of your hands: network, server, an answer that is not a valid envelope;
       standard output that can't be written while a run was made
  2    wrong use: flag, argument, input, configuration, a damaged store or file; 400 and 422 from the service
  3    not authorised: no key, 401, 402
  4    not found: 404, 410; nothing in the journal for --last; nothing held for --cached
  5    the run failed or its output does not match --schema; some rows of a batch or some test cases did
  6    gave up waiting; the run goes on
  7    rate limited (429) after all retries
  130  ended by Ctrl-C
  143  ended by SIGTERM

An empty list is a success. With --json an error is one line of JSON on standard error:
  {"status": "NOT_FOUND_ERROR", "message": "…", "data": null, "exitCode": 4}
Where the fault is not the service's, status is USAGE_ERROR, CONFIG_ERROR, NETWORK_ERROR, PROTOCOL_ERROR,
WAIT_TIMEOUT, INTERRUPTED, FILE_ERROR or INTERNAL_ERROR.
`;

/** The flags that every command takes, as `help flags` prints them. */
export function flagsTopic(root: Command): string {
  const rows = [
    ...root.options.map(({ flags, description }) => [flags, description]),
    ['-h, --help', 'explain the command'],
  ];
  const width = Math.max(...rows.map(([flags = '']) => flags.length));
  const lines = rows.map(([flags = '', description = '']) => `  ${flags.padEnd(width)}  ${description}`);
  return `Flags of every command, before or after its name\n\n${lines.join('\n')}\n`;
}

/** What `help <topic>` prints besides the help of commands. */
export const TOPICS: Readonly<Record<string, string>> = {
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
};

/** Beside the directory of the built command or of its chunks, or of the sources. */
const PLACES = ['../docs/', '../../docs/', '../../../../docs/'];

/** The text of a guide, undefined where none has this name. Throws Error where it is not installed. */
export async function readGuide(name: string): Promise<string | undefined> {
  const guide = Object.hasOwn(GUIDES, name) ? GUIDES[name] : undefined;
  if (guide === undefined) return undefined;
  const file = PLACES.map(place => fileURLToPath(new URL(place + guide, import.meta.url))).find(existsSync);
  if (file === undefined) {
    throw new Error(`${guide} is missing from the installation: install promptrun again`);
  }
  return readFile(file, 'utf8');
}
