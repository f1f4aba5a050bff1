import type { RouteOptions } from 'fastify';
import { ERROR_HTTP_STATUS, type ErrorStatus, PATH_PREFIX } from '../wire/index.ts';
import type { App } from './http/app-type.ts';
import { ErrorEnvelopeSchema } from './schemas/common.ts';

/** Where the description of the interface is served, without a key. */
export const OPENAPI_PATH = '/openapi.json';

/** What any route under /v1 may answer. */
const COMMON_ERRORS: readonly ErrorStatus[] = [
  'UNAUTHORIZED_ERROR',
  'PAYMENT_REQUIRED_ERROR',
  'TOO_MANY_REQUESTS_ERROR',
  'SERVER_ERROR',
];

type JsonSchema = Record<string, unknown>;

interface RouteSchema {
  params?: JsonSchema;
  querystring?: JsonSchema;
  body?: JsonSchema;
  response?: Record<string, JsonSchema>;
}

/** Serves the description of every route that is added from here on, made from the schemas it validates with. */
export function describeInterface(app: App): void {
  const paths: Record<string, Record<string, unknown>> = {};
  app.addHook('onRoute', route => {
    if (route.method === 'HEAD' || route.url === OPENAPI_PATH) return;
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: operation(route) };
  });
  let text: string | undefined;
  app.get(OPENAPI_PATH, async (_request, reply) => {
    text ??= JSON.stringify(document(paths));
    return await reply.type('application/json; charset=utf-8').send(text);
  });
}

function document(paths: object): object {
  return {
    openapi: '3.1.0',
    info: { title: 'promptrun local service', version: '1' },
    paths,
    components: {
      schemas: { Error: ErrorEnvelopeSchema },
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operation({ url, config, schema }: RouteOptions): object {
  const { params, querystring, body, response } = (schema ?? {}) as RouteSchema;
  const keyed = url.startsWith(PATH_PREFIX);
  return {
    summary: config?.summary ?? '',
    security: keyed ? [{ key: [] }] : [],
    parameters: [...parameters('path', params), ...parameters('query', querystring)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      '200': { description: 'Success', content: response?.['200'] ? json(response['200']) : { '*/*': {} } },
      ...errorResponses([...(keyed ? COMMON_ERRORS : []), ...(config?.errors ?? [])]),
    },
  };
}

function parameters(place: 'path' | 'query', schema: JsonSchema | undefined): object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: JsonSchema;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name) && !hasDefault(schema),
    schema,
  }));
}

function hasDefault(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'default' in schema;
}

function errorResponses(errors: readonly ErrorStatus[]): Record<string, object> {
  const responses = errors.map(status => [
    String(ERROR_HTTP_STATUS[status]),
    { description: status, content: json({ $ref: '#/components/schemas/Error' }) },
  ]);
  return Object.fromEntries(responses) as Record<string, object>;
}

function json(schema: JsonSchema): object {
  return { 'application/json': { schema } };
}
