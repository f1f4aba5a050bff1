import { isJsonObject } from '../wire/bounded-json.ts';
import type { Run } from '../wire/index.ts';
import { ProtocolError } from './errors.ts';
import type { Answer, Requester, RequestOptions } from './request.ts';

/** An object of an answer, whose fields may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The payload of an answer, once it has what every reader of it relies on; unknown fields stay.
 *
 * @throws {ProtocolError} naming what is wrong
 */
export function payload<T>(answer: Answer<T>, what: string, check: (data: Fields) => string | undefined): T {
  const fault = isJsonObject(answer.data) ? check(answer.data) : 'it is not an object';
  if (fault === undefined) return answer.data;
  throw new ProtocolError(`the service's answer is not the expected ${what}: ${fault}`, {
    httpStatus: answer.httpStatus,
  });
}

/** Drops `savedTo` of outputs: it says where promptrun saved one, and a service must not name files of this machine. */
export function withoutSavedTo(run: Run): Run {
  if (!run.outputs.some(output => isJsonObject(output) && 'savedTo' in output)) return run;
  const outputs = run.outputs.map((output: Run['outputs'][number] & { savedTo?: unknown }) => {
    const { savedTo: _, ...own } = output;
    return own;
  });
  return { ...run, outputs };
}

/** The methods of one noun, over one request function. */
export abstract class Endpoints {
  protected readonly service: Requester;

  constructor(service: Requester) {
    this.service = service;
  }

  /** The payload of an answer. @throws {ProtocolError} if it is not the expected one */
  protected async read<T>(
    [method, path]: readonly [method: string, path: string],
    options: RequestOptions,
    what: string,
    check: (data: Fields) => string | undefined = () => undefined,
  ): Promise<T> {
    return payload(await this.service.request<T>(method, path, options), what, check);
  }
}

/** What is wrong with fields that must be strings. */
export function strings(data: Fields, ...names: readonly string[]): string | undefined {
  const wrong = names.find(name => typeof data[name] !== 'string');
  return wrong === undefined ? undefined : `${wrong} is not a text`;
}

/** What is wrong with fields that are strings if they are there. */
export function optionalStrings(data: Fields, ...names: readonly string[]): string | undefined {
  return strings(data, ...names.filter(name => data[name] !== undefined && data[name] !== null));
}

/** What is wrong with a field that must be a list of objects, each passing `check`. */
export function listOf(
  data: Fields,
  name: string,
  check: (entry: Fields) => string | undefined = () => undefined,
): string | undefined {
  const list = data[name];
  if (!Array.isArray(list)) return `${name} is not a list`;
  for (const entry of list as unknown[]) {
    const fault = isJsonObject(entry) ? check(entry) : 'it is not an object';
    if (fault !== undefined) return `in ${name}, ${fault}`;
  }
  return undefined;
}
