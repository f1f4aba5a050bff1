import fc from 'fast-check';
import { PromptService } from '../../src/client/client.ts';
import { InvalidRequestError, PromptServiceError } from '../../src/client/errors.ts';
import { findLostRun } from '../../src/client/find-lost-run.ts';
import { staysBelowBase } from '../../src/client/http/base-url.ts';
import { parseResponse } from '../../src/client/http/parse-response.ts';
import { Redaction } from '../../src/client/http/redaction.ts';
import { checkMediaUrl } from '../../src/client/media-url.ts';
import type { TransportResponse } from '../../src/client/transport.ts';
import { urlPath } from '../../src/client/url-path.ts';
import { parseRetryAfter } from '../../src/net/retry-policy.ts';
import { isPrivateHost } from '../../src/wire/addresses.ts';
import { anyText } from '../support/any-text.ts';
import { type Fuzzed, fuzzed, withDeadline } from './fuzzed.ts';

const KEY = 'key-of-the-fuzzer-0123456789';
const BASE = 'https://service.example/v1';
const redaction = new Redaction(KEY);

/** Words of a service, with those that the client knows among the others. */
const WORDS =
  'SUCCESS NOT_FOUND_ERROR TOO_MANY_REQUESTS_ERROR GATEWAY_TIMEOUT_ERROR succeeded running text image r1 r2 v ../.. %2e%2e __proto__';

const FIELDS =
  'status message data runId runStatus outputs type tokens rows hasMore hash promptVersionId promptId resources models model modality availableRunOptions key options versions credits createdAt __proto__ constructor';

const word = fc.oneof(
  fc.constantFrom(...WORDS.split(' '), '2026-01-02T03:04:05Z', '', KEY),
  fc.string(),
);

const field = fc.constantFrom(...FIELDS.split(' '), KEY);

const { json } = fc.letrec<{ json: unknown }>(tie => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(field, tie('json'), { maxKeys: 6 }),
  ),
}));

const envelope = fc.record(
  { status: word, message: fc.oneof(word, json), data: json },
  { requiredKeys: ['status'] },
);

const text = fc.oneof(
  envelope.map(value => JSON.stringify(value)),
  json.map(value => JSON.stringify(value)),
  anyText({ maxLength: 200 }),
  fc
    .tuple(
      fc.constantFrom('[', '{"a":', '{"status":"', ' ', '\\', '<'),
      fc.integer({ min: 1, max: 30_000 }),
    )
    .map(([piece, times]) => piece.repeat(times)),
);

const headers = fc.dictionary(
  fc.constantFrom(
    'retry-after',
    'date',
    'location',
    'content-type',
    'action-require',
    'idempotency',
    'x',
  ),
  fc.oneof(
    word,
    fc.array(word, { minLength: 1, maxLength: 2 }),
    fc.constantFrom('0', '-1', '1e9', 'soon', KEY),
  ),
);

const httpStatus = fc.oneof(
  fc.constantFrom(200, 201, 302, 400, 401, 404, 422, 429, 500, 502, 504),
  fc.integer({ min: 100, max: 599 }),
);

const received = fc.record({ method: fc.constantFrom('GET', 'POST'), httpStatus, headers, text });

type Answer = Pick<TransportResponse, 'status' | 'headers'> & { readonly text: string };

/** Returns a client whose requests are answered by a function; no time passes while it waits. */
function createClientAnsweredBy(answer: () => Answer): PromptService {
  const transport = {
    request: (): Promise<TransportResponse> => {
      const { status, headers: named, text: body } = answer();
      return Promise.resolve({ status, headers: named, body: streamBytes(body) });
    },
    close: () => Promise.resolve(),
  };
  const sleep = (): Promise<void> => Promise.resolve();
  return new PromptService({
    baseUrl: BASE,
    apiKey: KEY,
    transport,
    sleep,
    now: () => 0,
    random: () => 0,
  });
}

async function* streamBytes(body: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(body));
}

const CALLS: readonly ((client: PromptService) => Promise<unknown>)[] = [
  client => client.runs.get('r'),
  client => client.runs.create({ promptVersionId: 'v', inputs: {} }),
  client => client.runs.list(),
  client => client.prompts.get('p'),
  client => client.prompts.search('x'),
  client => client.prompts.list(),
  client => client.versions.list('p'),
  client => client.versions.get('v'),
  client => client.resources.get(),
  client => client.account.get(),
  client => client.account.credits(),
];

async function endsInAnErrorOfItsOwn(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof PromptServiceError)) throw error;
    const shown = `${error.message} ${error.stack} ${JSON.stringify(error.data)}`;
    if (shown.includes(KEY)) throw new Error('the key leaks');
  });
}

export default [
  fuzzed(
    'an answer is read or refused by an error of the client, the key in neither',
    received,
    async answer => {
      const outcome = await withDeadline(() =>
        parseResponse(
          {
            ...answer,
            url: `${BASE}/x`,
            headers: redaction.redactValue(answer.headers),
            receivedAt: 0,
          },
          redaction,
        ),
      );
      const { answer: read, error } = outcome;
      return error === undefined
        ? read?.envelope.status === 'SUCCESS'
        : !JSON.stringify([error.message, error.data]).includes(KEY);
    },
  ),

  fuzzed(
    'every method gives what was asked for or an error of the client',
    fc.tuple(received, fc.nat(10)),
    ([answer, nth]) => {
      const client = createClientAnsweredBy(() => ({ ...answer, status: answer.httpStatus }));
      const call = CALLS[nth % CALLS.length] ?? (() => Promise.resolve());
      return withDeadline(() => endsInAnErrorOfItsOwn(call(client)));
    },
  ),

  fuzzed(
    'a list ends, whatever its pages say',
    fc.tuple(
      fc.array(fc.array(fc.nat(5), { maxLength: 3 }), { minLength: 1, maxLength: 9 }),
      fc.boolean(),
    ),
    async ([pages, backwards]) => {
      let asked = 0;
      const client = createClientAnsweredBy(() => {
        const ids = pages[asked++ % pages.length] ?? [];
        const rows = ids.map(id => ({ runId: `r${id}`, runStatus: 'queued' }));
        return {
          status: 200,
          headers: {},
          text: JSON.stringify({ status: 'SUCCESS', data: { rows, hasMore: true } }),
        };
      });
      const collectAll = async (): Promise<void> => {
        for await (const row of client.runs.all(backwards ? { endingBefore: 'r0' } : {})) void row;
      };

      await endsInAnErrorOfItsOwn(collectAll());
      if (asked > 9) throw new Error(`it asked ${asked} times`);
    },
  ),

  fuzzed(
    'what is looked for is found among the rows of its version only',
    fc.array(fc.dictionary(field, json), { maxLength: 5 }),
    async rows => {
      const listed = rows.map((row, nth) => ({ ...row, runId: `r${nth}`, runStatus: 'queued' }));
      const data = { rows: listed, hasMore: false };
      const client = createClientAnsweredBy(() => ({
        status: 200,
        headers: {},
        text: JSON.stringify({ status: 'SUCCESS', data }),
      }));

      const { candidates } = await findLostRun(client, {
        promptVersionId: 'v',
        sentAt: 0,
        knownRunIds: new Set(['r0']),
      });
      return candidates.every(
        ({ promptVersionId, runId }) => promptVersionId === 'v' && runId !== 'r0',
      );
    },
  ),

  fuzzed(
    'an identifier fills one segment of a path, or is refused',
    fc.oneof(
      word,
      fc.webPath(),
      fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'e', '5', 'f', '\\', 'é') }),
    ),
    async id => {
      const built = await withDeadline(() => {
        try {
          return urlPath`/runs/${id}`;
        } catch (error) {
          if (error instanceof InvalidRequestError) return undefined;
          throw error;
        }
      });
      if (built === undefined) return true;
      const { pathname, search, hash, origin } = new URL(BASE + built);

      return (
        origin === 'https://service.example' &&
        pathname === `/v1${built}` &&
        search + hash === '' &&
        pathname.split('/').length === 4
      );
    },
  ),

  fuzzed(
    'a path that is let through stays below the base',
    fc.oneof(
      fc.webUrl(),
      fc
        .string({ unit: fc.constantFrom('.', '/', '%', '2', 'e', '5', '\\', '?', '#', '@', ':') })
        .map(rest => `/${rest}`),
    ),
    given => {
      if (!staysBelowBase(given)) return true;
      const { origin, pathname } = new URL(BASE + given);
      return origin === 'https://service.example' && pathname.startsWith('/v1/');
    },
  ),

  fuzzed(
    'media that a public service may name are public',
    fc.oneof(
      fc.webUrl(),
      fc
        .tuple(
          fc.constantFrom('http', 'https', 'file', 'ftp', 'ws'),
          fc.oneof(
            fc.ipV4Extended(),
            fc.ipV6().map(ip => `[${ip}]`),
            fc.domain(),
            fc.constantFrom('localhost', '127.1', '0x7f.1', '[::ffff:10.0.0.1]'),
          ),
          fc.webPath(),
        )
        .map(([scheme, host, rest]) => `${scheme}://${host}${rest}`),
    ),
    url => {
      try {
        const checked = checkMediaUrl(url, { baseUrl: BASE });
        return checked.protocol === 'https:' && !isPrivateHost(checked.hostname);
      } catch (error) {
        return error instanceof PromptServiceError;
      }
    },
  ),

  fuzzed(
    'a wait is never negative',
    fc.oneof(
      word,
      fc.date({ noInvalidDate: true }).map(date => date.toUTCString()),
      fc.double().map(String),
    ),
    header => {
      const ms = parseRetryAfter(header, Date.now());
      return ms === undefined || (ms >= 0 && !Number.isNaN(ms));
    },
  ),

  fuzzed(
    'a key is not found in what was masked',
    fc.tuple(
      fc
        .string({ unit: 'grapheme-ascii', minLength: 8 })
        .filter(key => !'[key]'.includes(key) && !/\s/.test(key)),
      json,
    ),
    ([key, value]) => {
      const holder = [value, { [key]: `x${key}y`, nested: [key, encodeURIComponent(key)] }];
      const masked: unknown = new Redaction(key).redactValue(holder);
      const strings: string[] = [];
      JSON.stringify(masked, (name, entry: unknown) => {
        strings.push(name, typeof entry === 'string' ? entry : '');
        return entry;
      });

      return strings.every(string => !string.includes(key));
    },
  ),
] satisfies readonly Fuzzed[];
