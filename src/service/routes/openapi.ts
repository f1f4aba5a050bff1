import { ERROR_HTTP_STATUS, type ErrorStatus, IDEMPOTENCY_SUPPORTED } from '../../wire/index.ts';
import { createJsonAnswer } from '../http/api-error.ts';
import { type ApiAnswer, requiresKey } from '../http/route.ts';
import { anything, integer, object, type Schema, text } from '../http/schema.ts';
import { type AnyRoute, defineRoute } from './services.ts';

/** The path of the OpenAPI document, which needs no key. */
const OPENAPI_PATH = '/openapi.json';

const COMMON_ERRORS: readonly ErrorStatus[] = [
  'BAD_REQUEST_ERROR',
  'MISDIRECTED_REQUEST_ERROR',
  'HEADERS_TOO_LARGE_ERROR',
];

/** The errors of all routes that take a body. */
const BODY_ERRORS: readonly ErrorStatus[] = ['PAYLOAD_TOO_LARGE_ERROR'];

/** The errors of all routes under /v1. */
const KEYED_ERRORS: readonly ErrorStatus[] = [
  'UNAUTHORIZED_ERROR',
  'PAYMENT_REQUIRED_ERROR',
  'TOO_MANY_REQUESTS_ERROR',
  'SERVER_ERROR',
  'SERVICE_UNAVAILABLE_ERROR',
];

const TAGS: Readonly<Record<AnyRoute['tag'], string>> = {
  Runs: 'Run prompts and read the results',
  Prompts: 'Find, publish and label prompts',
  'Prompt versions': 'Read a version of a prompt with its inputs',
  Resources: 'Models and their run options',
  User: 'The account and its credits',
  Media: 'Generated pictures and videos',
  Page: 'The web page',
  Health: 'Checks for load balancers and process supervisors',
};

/** The headers of answers to a caller with a valid key. */
const KEYED_ANSWER_HEADERS: Readonly<Record<string, Schema>> = {
  Idempotency: {
    type: 'string',
    const: IDEMPOTENCY_SUPPORTED,
    description: 'The service supports `Idempotency-Key`, and keeps keys for 24 hours',
  },
  'Action-Require': text({
    description: 'Present if the models have changed since the hash sent as `cli-agent`',
  }),
  'RateLimit-Policy': text({
    description: 'The rate limit, such as `"default";q=5;w=1` for 5 requests per second',
  }),
};

const RETRY_AFTER_HEADER: Readonly<Record<string, Schema>> = {
  'Retry-After': integer({ description: 'Seconds to wait before a retry' }),
};

const KEYED_REQUEST_HEADERS = object(
  {},
  { 'cli-agent': text({ description: 'The hash of the models that the client has cached' }) },
);

const errorSchema: Schema = {
  ...object({
    status: text({ description: 'The error code, such as `NOT_FOUND_ERROR`' }),
    message: text({ description: 'The reason of the failure' }),
    data: anything,
  }),
  description: 'The body of every failure',
};

/**
 * Returns the route of the OpenAPI document, built from the schemas that the routes validate with.
 */
export function createOpenApiRoute(routes: readonly AnyRoute[]): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: OPENAPI_PATH,
    id: 'getDescription',
    tag: 'Resources',
    summary: 'Get this document',
    description: 'Returns the OpenAPI document of this service.',
    errors: [],
    handle: (_, { origin }): Promise<ApiAnswer> =>
      Promise.resolve(createJsonAnswer(200, serialiseDocument(routes, origin))),
  });
}

/**
 * Returns the document as JSON, without `discriminator`, which OpenAPI allows only for named
 * schemas.
 */
function serialiseDocument(routes: readonly AnyRoute[], origin: string): string {
  return JSON.stringify(buildDocument(routes, origin), (key, value: unknown) =>
    key === 'discriminator' ? undefined : value,
  );
}

function buildDocument(routes: readonly AnyRoute[], origin: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: buildOperation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'promptrun local service',
      version: '1',
      description:
        'Runs published prompt versions and returns their outputs. Every JSON answer is an envelope of `status` and `data`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin, description: 'This service' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key of this service' },
      },
    },
  };
}

function buildOperation(route: AnyRoute): object {
  const { id, tag, summary, description, errors, params, query, headers, body, data } = route;
  const needsKey = requiresKey(route);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(needsKey ? {} : { security: [] }),
    parameters: [
      ...buildParameters('path', params),
      ...buildParameters('query', query),
      ...buildParameters('header', headers),
      ...(needsKey ? buildParameters('header', KEYED_REQUEST_HEADERS) : []),
    ],
    ...(body && { requestBody: { required: true, content: buildJsonContent(body) } }),
    responses: {
      '200': {
        description: 'Success',
        ...(needsKey && { headers: buildHeaderObjects(KEYED_ANSWER_HEADERS) }),
        content: data ? buildJsonContent(buildSuccessSchema(data)) : { '*/*': {} },
      },
      ...buildErrorResponses(
        [
          ...errors,
          ...(body ? BODY_ERRORS : []),
          ...(needsKey ? KEYED_ERRORS : []),
          ...COMMON_ERRORS,
        ],
        needsKey,
      ),
    },
  };
}

function buildHeaderObjects(headers: Readonly<Record<string, Schema>>): Record<string, object> {
  const entries = Object.entries(headers).map(([name, { description, ...schema }]) => [
    name,
    { description, schema },
  ]);
  return Object.fromEntries(entries) as Record<string, object>;
}

function buildSuccessSchema(data: Schema): Schema {
  return object({ status: { type: 'string', const: 'SUCCESS' }, data });
}

function buildParameters(
  location: 'path' | 'query' | 'header',
  { properties = {}, required = [] }: Schema = {},
): object[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    ...(description !== undefined && { description }),
    required: required.includes(name) && schema.default === undefined,
    schema,
  }));
}

function buildErrorResponses(
  errors: readonly ErrorStatus[],
  needsKey: boolean,
): Record<string, object> {
  const responses = errors.map(status => {
    const isAdmitted =
      needsKey && status !== 'UNAUTHORIZED_ERROR' && !COMMON_ERRORS.includes(status);
    const headers = {
      ...(isAdmitted && KEYED_ANSWER_HEADERS),
      ...([429, 503].includes(ERROR_HTTP_STATUS[status]) && RETRY_AFTER_HEADER),
    };
    const content = buildJsonContent({ $ref: '#/components/schemas/Error' });

    return [
      String(ERROR_HTTP_STATUS[status]),
      { description: status, headers: buildHeaderObjects(headers), content },
    ];
  });
  return Object.fromEntries(responses) as Record<string, object>;
}

function buildJsonContent(schema: object): object {
  return { 'application/json': { schema } };
}
