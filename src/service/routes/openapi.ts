import { ERROR_HTTP_STATUS, type ErrorStatus, IDEMPOTENCY_SUPPORTED } from '../../wire/index.ts';
import { jsonAnswer } from '../http/api-error.ts';
import { type ApiAnswer, isKeyed } from '../http/route.ts';
import { anything, integer, object, type Schema, text } from '../http/schema.ts';
import { type AnyRoute, route } from './route.ts';

/** Where the description of the interface is served, without a key. */
const OPENAPI_PATH = '/openapi.json';

/** What any route may answer. */
const COMMON_ERRORS: readonly ErrorStatus[] = [
  'BAD_REQUEST_ERROR',
  'MISDIRECTED_REQUEST_ERROR',
  'HEADERS_TOO_LARGE_ERROR',
];

/** What any route under /v1 may answer. */
const KEYED_ERRORS: readonly ErrorStatus[] = [
  'UNAUTHORIZED_ERROR',
  'PAYMENT_REQUIRED_ERROR',
  'TOO_MANY_REQUESTS_ERROR',
  'SERVER_ERROR',
  'SERVICE_UNAVAILABLE_ERROR',
];

const TAGS: Readonly<Record<AnyRoute['tag'], string>> = {
  Runs: 'Running prompts and reading what came of it',
  Prompts: 'Finding prompts',
  'Prompt versions': 'What one version of a prompt expects',
  Resources: 'Models and their run options',
  User: 'Whose key it is, and what is left to spend',
  Media: 'Generated pictures and videos',
  Page: 'What browsers show',
  Health: 'For load balancers and whoever restarts processes',
};

/** What the answers to a caller whose key is known carry. */
const KEYED_HEADERS: Readonly<Record<string, Schema>> = {
  Idempotency: {
    type: 'string',
    const: IDEMPOTENCY_SUPPORTED,
    description: 'That an `Idempotency-Key` is kept for 24 hours',
  },
  'Action-Require': text({
    description: 'There if the models have changed since the hash that was sent as `cli-agent`',
  }),
  'RateLimit-Policy': text({ description: 'How fast a client may go, such as `"default";q=5;w=1`' }),
};

const RETRY_AFTER: Readonly<Record<string, Schema>> = {
  'Retry-After': integer({ description: 'When another try may be worth it, in seconds' }),
};

const KEYED_REQUEST = object(
  {},
  { 'cli-agent': text({ description: 'The hash of the models that the client holds' }) },
);

const errorEnvelope: Schema = {
  ...object({
    status: text({ description: 'The error code, such as `NOT_FOUND_ERROR`' }),
    message: text({ description: 'What is wrong' }),
    data: anything,
  }),
  description: 'Every failure',
};

/** The route of the description of these routes, made from the schemas they check with. */
export function openApiRoute(routes: readonly AnyRoute[]): AnyRoute {
  return route({
    method: 'GET',
    path: OPENAPI_PATH,
    id: 'getDescription',
    tag: 'Resources',
    summary: 'This description',
    description: 'The interface as an OpenAPI document.',
    errors: [],
    handle: (_, { origin }): Promise<ApiAnswer> => Promise.resolve(jsonAnswer(200, written(routes, origin))),
  });
}

/** The schemas of variants have no names of their own, by which alone OpenAPI could tell them apart. */
function written(routes: readonly AnyRoute[], origin: string): string {
  return JSON.stringify(document(routes, origin), (key, value: unknown) =>
    key === 'discriminator' ? undefined : value,
  );
}

function document(routes: readonly AnyRoute[], origin: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'promptrun local service',
      version: '1',
      description: 'Runs published prompt versions and gives their outputs. Every answer is an envelope.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin, description: 'This service' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths,
    components: {
      schemas: { Error: errorEnvelope },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key of this service' },
      },
    },
  };
}

function operation(route: AnyRoute): object {
  const { id, tag, summary, description, errors, params, query, headers, body, data } = route;
  const keyed = isKeyed(route);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(keyed ? {} : { security: [] }),
    parameters: [
      ...parameters('path', params),
      ...parameters('query', query),
      ...parameters('header', headers),
      ...(keyed ? parameters('header', KEYED_REQUEST) : []),
    ],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      '200': {
        description: 'Success',
        ...(keyed && { headers: described(KEYED_HEADERS) }),
        content: data ? json(envelopeOf(data)) : { '*/*': {} },
      },
      ...errorResponses([...errors, ...(keyed ? KEYED_ERRORS : []), ...COMMON_ERRORS], keyed),
    },
  };
}

function described(headers: Readonly<Record<string, Schema>>): Record<string, object> {
  const entries = Object.entries(headers).map(([name, { description, ...schema }]) => [
    name,
    { description, schema },
  ]);
  return Object.fromEntries(entries) as Record<string, object>;
}

/** A success with this payload. */
function envelopeOf(data: Schema): Schema {
  return object({ status: { type: 'string', const: 'SUCCESS' }, data });
}

function parameters(
  place: 'path' | 'query' | 'header',
  { properties = {}, required = [] }: Schema = {},
): object[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    ...(description !== undefined && { description }),
    required: required.includes(name) && schema.default === undefined,
    schema,
  }));
}

function errorResponses(errors: readonly ErrorStatus[], keyed: boolean): Record<string, object> {
  const responses = errors.map(status => {
    const isAdmitted = keyed && status !== 'UNAUTHORIZED_ERROR' && !COMMON_ERRORS.includes(status);
    const headers = {
      ...(isAdmitted && KEYED_HEADERS),
      ...([429, 503].includes(ERROR_HTTP_STATUS[status]) && RETRY_AFTER),
    };
    const content = json({ $ref: '#/components/schemas/Error' });
    return [String(ERROR_HTTP_STATUS[status]), { description: status, headers: described(headers), content }];
  });
  return Object.fromEntries(responses) as Record<string, object>;
}

function json(schema: object): object {
  return { 'application/json': { schema } };
}
