import { Ajv, type ErrorObject } from 'ajv';
import type { ProviderAnswer, ProviderRequest } from './fake-provider.ts';

/** Body of a request, as JSON. */
export type Body = Readonly<Record<string, unknown>>;

/** JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * A parameter that a service doesn't take: an unknown name, a wrong type, or none where one must
 * be.
 */
export interface ParameterFault {
  readonly kind: 'unknown' | 'missing' | 'type';
  /** Steps from the body to the parameter. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The refusal of a request; undefined if the rule has nothing against it. */
export type Rule = (body: Body, request: ProviderRequest) => ProviderAnswer | undefined;

/** The requests that one interface of a provider takes, and its words for refusing all others. */
export interface InterfaceRules {
  /** Schema of the body. A service that ignores unknown names has `additionalProperties: true`. */
  readonly parameters: Schema;
  readonly refuse: (fault: ParameterFault) => ProviderAnswer;
  /** Asked in order, after the parameters. */
  readonly rules: readonly Rule[];
  /** Asked before the body is read. */
  readonly headers?: (request: ProviderRequest) => ProviderAnswer | undefined;
}

const ajv = new Ajv({ strict: false, verbose: true });

/** Returns the answer of a service to a request that it refuses; undefined if it takes it. */
export function findRefusal(
  service: InterfaceRules,
  request: ProviderRequest,
): ProviderAnswer | undefined {
  const wrongHeader = service.headers?.(request);
  if (wrongHeader) return wrongHeader;

  const body = JSON.parse(request.text) as Body;
  const validate = ajv.compile(service.parameters);
  if (!validate(body)) return service.refuse(findFault(findDeepestError(validate.errors ?? [])));

  for (const rule of service.rules) {
    const answer = rule(body, request);
    if (answer) return answer;
  }

  return undefined;
}

/** Returns the error of the alternative that the body got furthest into, which says most. */
function findDeepestError(errors: readonly ErrorObject[]): ErrorObject {
  const own = errors.filter(({ keyword }) => keyword !== 'anyOf');
  const [first] = own.toSorted(
    (a, b) => b.instancePath.split('/').length - a.instancePath.split('/').length,
  );
  if (!first) throw new Error('a body without an error is refused');
  return first;
}

function findFault({ keyword, instancePath, params, data }: ErrorObject): ParameterFault {
  const path = instancePath.split('/').slice(1);
  const names = params as { additionalProperty?: string; missingProperty?: string };
  if (keyword === 'additionalProperties') {
    const name = names.additionalProperty ?? '';
    return { kind: 'unknown', path: [...path, name], value: (data as Body)[name] };
  }

  if (keyword === 'required') {
    return { kind: 'missing', path: [...path, names.missingProperty ?? ''], value: undefined };
  }

  return { kind: 'type', path, value: data };
}

/** Returns an object with these properties and no others. */
export function object(properties: Schema, ...required: string[]): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Returns the same for a service that ignores unknown names. */
export function lenient(schema: Schema): Schema {
  return { ...schema, additionalProperties: true };
}

export const TEXT = { type: 'string' } as const;
export const NUMBER = { type: ['number', 'null'] } as const;
export const INTEGER = { type: ['integer', 'null'] } as const;
export const FLAG = { type: ['boolean', 'null'] } as const;
export const ANY = {} as const;
export const OBJECT = { type: 'object' } as const;
export const LIST = { type: 'array' } as const;
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOf = (...anyOf: Schema[]): Schema => ({ anyOf });
export const constant = (value: string): Schema => ({ const: value });

/** Formats the path of a parameter as `messages[0].content`. */
export function formatPath(path: readonly string[]): string {
  return path
    .map(step => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}

/** Returns the value at a path; undefined if the path leads nowhere. */
export function getValueAt(body: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Body)[step] : undefined,
    body,
  );
}

export function getNamedModel(body: Body): string {
  const { model } = body;
  return typeof model === 'string' ? model : '';
}

/**
 * Refuses a parameter of some models, unless it has the value that it would have without being
 * sent.
 */
export function withoutParameter(
  models: RegExp,
  parameter: string,
  answer: (value: unknown, model: string) => ProviderAnswer,
  unless?: unknown,
): Rule {
  return body => {
    const value = getValueAt(body, ...parameter.split('.'));
    const isRefused =
      value !== undefined && value !== null && value !== unless && models.test(getNamedModel(body));
    return isRefused ? answer(value, getNamedModel(body)) : undefined;
  };
}

/**
 * Returns a property that a strict schema must list among the required ones and does not, with the
 * place of its object.
 */
export function findMissingInStrict(
  schema: unknown,
  place: readonly string[] = [],
):
  | { place: readonly string[]; fault: 'required' | 'additionalProperties'; name: string }
  | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;

  const { properties, required, additionalProperties, items, anyOf } = schema as Body;
  if (typeof properties === 'object' && properties !== null) {
    if (additionalProperties !== false) return { place, fault: 'additionalProperties', name: '' };
    const listed = Array.isArray(required) ? (required as unknown[]) : [];
    const name = Object.keys(properties).find(key => !listed.includes(key));
    if (name !== undefined) return { place, fault: 'required', name };
  }

  const below: [readonly string[], unknown][] = [
    ...Object.entries((properties ?? {}) as Body).map(([key, value]): [string[], unknown] => [
      [...place, 'properties', key],
      value,
    ]),
    ...(items === undefined ? [] : [[[...place, 'items'], items] as [string[], unknown]]),
    ...(Array.isArray(anyOf) ? (anyOf as unknown[]) : []).map(
      (value, index): [string[], unknown] => [[...place, 'anyOf', String(index)], value],
    ),
  ];
  for (const [path, value] of below) {
    const found = findMissingInStrict(value, path);
    if (found) return found;
  }

  return undefined;
}
