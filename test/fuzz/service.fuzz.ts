import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import type { Schema } from '../../src/service/http/schema.ts';
import { anyText } from '../support/any-text.ts';
import { InterfaceDescription } from '../support/interface-description.ts';
import { TestService } from '../support/local-service.ts';
import { type Effort, type Fuzzed, fuzzed, withDeadline } from './fuzzed.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The values that a request needs and the description does not have. */
interface Known {
  readonly key: string;
  /** Identifiers of what is there. */
  readonly ids: readonly string[];
}

// The characters that a URL and a header may hold unescaped.
const printable = fc.string({
  unit: fc.constantFrom(...Array.from('az09-._~%/&=+:@!$\'()*,;?[]"<>\\^`{|}#')),
});

const odd = fc.constantFrom(
  '',
  '0',
  '-1',
  '50',
  '1e3',
  '%zz',
  '%00',
  '..',
  '../..',
  '__proto__',
  'a'.repeat(9000),
);

const KEYS = [
  'name',
  'place',
  'mood',
  'note',
  'delaySeconds',
  'outcome',
  'quality',
  '__proto__',
  'constructor',
];

const VALUES = [
  'Ann',
  'sunny',
  '0',
  '1',
  'failed',
  'partial',
  'low',
  '{{name}}',
  '\u0000',
  '',
  'https://127.0.0.1/',
];

/**
 * Returns values that fit a schema, with something that does not in one place or another now and
 * then.
 */
function anyValue(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: fittingValue(schema, known) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

function fittingValue(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const { properties, required = [], additionalProperties, oneOf } = schema;
  if (oneOf) return fc.oneof(...oneOf.map(variant => anyValue(variant, known)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.format === 'uuid') return fc.oneof(fc.constantFrom(...known.ids), fc.uuid());

  if (additionalProperties) {
    return fc.dictionary(fc.constantFrom(...KEYS), anyValue(additionalProperties, known), {
      maxKeys: 4,
    });
  }

  if (properties) {
    const fields = Object.entries(properties).map(
      ([name, field]) => [name, anyValue(field, known)] as const,
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
  }

  if (schema.type === 'array') {
    return fc.array(anyValue(schema.items ?? {}, known), { maxLength: 3 });
  }

  if (schema.type === 'integer') return fc.integer({ min: -1, max: 60 });
  return fc.oneof(fc.constantFrom(...VALUES), anyText());
}

/** Replaces lone surrogates, which can't be part of a URL. */
function replaceLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '?');
}

function parameterText({ schema }: Parameter, known: Known): fc.Arbitrary<string> {
  const good = fittingValue(schema, known).map(value =>
    encodeURIComponent(replaceLoneSurrogates(String(value))),
  );
  return fc.oneof(
    { weight: 6, arbitrary: good },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: printable },
  );
}

function anyTarget(
  path: string,
  parameters: readonly Parameter[],
  known: Known,
): fc.Arbitrary<string> {
  const pick = (place: Parameter['in']) => parameters.filter(parameter => parameter.in === place);
  const steps = pick('path').map(parameter => parameterText(parameter, known));
  const query = pick('query').map(parameter =>
    fc.option(parameterText(parameter, known).map(value => `${parameter.name}=${value}`)),
  );

  return fc
    .tuple(fc.tuple(...steps), fc.tuple(...query), fc.option(printable, { freq: 8 }))
    .map(([steps, query, more]) => {
      const filled = steps.reduce((whole, step) => whole.replace(/\{\w+\}/, () => step), path);
      const pairs = [...query, more].filter(pair => pair !== null);
      return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
    });
}

function anyHeaders({ key }: Known): fc.Arbitrary<Record<string, string>> {
  const often = fc.constant(`Bearer ${key}`);
  return fc.record(
    {
      authorization: fc.oneof({ weight: 15, arbitrary: often }, printable, fc.constant('Bearer x')),
      'cli-agent': printable,
      'idempotency-key': fc.constantFrom('one', 'two', '', 'x'.repeat(5000)),
      'content-type': fc.oneof(printable, fc.constant('application/json')),
    },
    { requiredKeys: ['authorization'] },
  );
}

function anyBody({ requestBody }: Operation, known: Known): fc.Arbitrary<string | undefined> {
  if (!requestBody) return fc.option(fc.string(), { nil: undefined, freq: 10 });
  const json = anyValue(requestBody.content['application/json'].schema, known).map(value =>
    JSON.stringify(value),
  );
  return fc.oneof(
    { weight: 20, arbitrary: json },
    fc.string(),
    fc.constant('['.repeat(20_000)),
    fc.constant(undefined),
  );
}

function anyRequest(description: Description, known: Known): fc.Arbitrary<Sent> {
  const all = Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      fc.record({
        method: fc.oneof(
          { weight: 15, arbitrary: fc.constant(method.toUpperCase()) },
          fc.constantFrom('PUT', 'PATCH', 'DELETE'),
        ),
        target: anyTarget(path, operation.parameters, known),
        headers: anyHeaders(known),
        body: anyBody(operation, known),
      }),
    ),
  );
  return fc.oneof(...all);
}

/** Runs a property against its own service, whose runs are not waited for. */
function onService(
  name: string,
  property: (service: TestService, agent: Agent) => Promise<Fuzzed>,
): Fuzzed {
  return {
    name,
    async check(effort: Effort) {
      const service = await TestService.start({ syncWindowMs: 20 });
      const agent = new Agent({ keepAlive: true });
      try {
        await (await property(service, agent)).check(effort);
      } finally {
        agent.destroy();
        await service.close();
      }
    },
  };
}

async function send(service: TestService, agent: Agent, { method, target, headers, body }: Sent) {
  const { port } = new URL(service.service.url);
  const sent = httpRequest({ host: '127.0.0.1', port, agent, method, path: target, headers });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];

  return {
    status: answer.statusCode ?? 0,
    type: answer.headers['content-type'],
    text: await text(answer),
  };
}

const answersItsDescription = onService(
  'the service answers every request as its description says, soon, and never with its own fault',
  async (service, agent) => {
    const answer = await fetch(new URL('/openapi.json', service.service.url));
    const description = (await answer.json()) as Description;
    const expected = await InterfaceDescription.of(service.service.url);
    const found = await Promise.all(
      ['hello', 'postcard', 'sandbox', 'describe'].map(slug => service.find(slug)),
    );
    const known = { key: service.key, ids: found.flatMap(each => Object.values(each)) };

    return fuzzed('', anyRequest(description, known), async sent => {
      const { status, type, text } = await withDeadline(() => send(service, agent, sent));
      if (status >= 500 && status !== 504) throw new Error(`it was answered ${status}: ${text}`);
      if (sent.target.startsWith('/openapi.json') || type?.startsWith('image/')) return;
      expected.check(sent.method, sent.target.split('?', 1)[0] ?? '', status, JSON.parse(text));
    });
  },
);

const PIECES = [
  'GET /v1/me HTTP/1.1\r\n',
  'POST /v1/runs HTTP/1.1\r\n',
  'Host: localhost\r\n',
  'Host: evil.example\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  '\r\n',
  '5\r\n12345\r\n0\r\n\r\n',
  '\r',
  '\n',
  ' ',
  ':',
  '\u0000',
  '\u00ff',
  'HTTP/9.9',
  'x'.repeat(20_000),
];

const readsAnyBytes = onService(
  'the service reads any bytes to their end and answers no fault',
  async service => {
    const { port } = new URL(service.service.url);
    const pieces = fc.array(
      fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary-ascii' })),
      {
        maxLength: 8,
      },
    );
    return fuzzed('', pieces, async pieces => {
      const answer = await withDeadline(async () => {
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => {});
        let received = '';
        socket.setEncoding('latin1').on('data', (piece: string) => {
          received += piece;
        });
        socket.end(pieces.join(''), 'latin1');
        await once(socket, 'close');

        return received;
      });
      if (answer === '' || /^HTTP\/1\.1 [1-4]\d\d /.test(answer)) return;
      throw new Error(`it was answered ${answer}`);
    });
  },
);

export default [answersItsDescription, readsAnyBytes] satisfies readonly Fuzzed[];
