import { isJsonObject, type UncheckedObject } from '../../utils/bounded-json.ts';
import type { Run } from '../../wire/index.ts';
import { ProtocolError } from '../errors.ts';
import type { Answer, Requester, RequestOptions } from '../request-options.ts';

/**
 * Returns the data of an answer after `check` has accepted it. Unknown fields are kept.
 *
 * @throws {ProtocolError} that names the fault
 */
export function requireData<T>(
  answer: Answer<T>,
  noun: string,
  findFault: (data: UncheckedObject) => string | undefined,
): T {
  const fault = isJsonObject(answer.data) ? findFault(answer.data) : 'it is not an object';
  if (fault === undefined) return answer.data;
  throw new ProtocolError(`the service's answer is not the expected ${noun}: ${fault}`, {
    httpStatus: answer.httpStatus,
  });
}

/**
 * Removes `savedTo` from outputs: promptrun itself sets it, and a service must not name files of
 * this machine.
 */
export function withoutSavedTo(run: Run): Run {
  if (!run.outputs.some(output => isJsonObject(output) && 'savedTo' in output)) return run;
  const outputs = run.outputs.map((output: Run['outputs'][number] & { savedTo?: unknown }) => {
    const { savedTo: _, ...fields } = output;
    return fields;
  });
  return { ...run, outputs };
}

/** The base class of the endpoints of one noun. */
export abstract class EndpointGroup {
  protected readonly service: Requester;

  constructor(service: Requester) {
    this.service = service;
  }

  /**
   * Sends a request and returns its data.
   *
   * @throws {ProtocolError} if the data does not have the expected form
   */
  protected async read<T>(
    [method, path]: readonly [method: string, path: string],
    options: RequestOptions,
    noun: string,
    findFault: (data: UncheckedObject) => string | undefined = () => undefined,
  ): Promise<T> {
    return requireData(await this.service.request<T>(method, path, options), noun, findFault);
  }
}

/** Explains which of these fields is not a string; undefined if all are. */
export function findTextFault(
  data: UncheckedObject,
  ...names: readonly string[]
): string | undefined {
  const wrongField = names.find(name => typeof data[name] !== 'string');
  return wrongField === undefined ? undefined : `${wrongField} is not text`;
}

/** Explains which of these fields is present and not a string; undefined if none is. */
export function findOptionalTextFault(
  data: UncheckedObject,
  ...names: readonly string[]
): string | undefined {
  return findTextFault(
    data,
    ...names.filter(name => data[name] !== undefined && data[name] !== null),
  );
}

/** Explains why a field is not a list of objects that all pass `check`; undefined if it is. */
export function findListFault(
  data: UncheckedObject,
  name: string,
  findEntryFault: (entry: UncheckedObject) => string | undefined = () => undefined,
): string | undefined {
  const list = data[name];
  if (!Array.isArray(list)) return `${name} is not a list`;
  for (const entry of list as unknown[]) {
    const fault = isJsonObject(entry) ? findEntryFault(entry) : 'it is not an object';
    if (fault !== undefined) return `in ${name}, ${fault}`;
  }
  return undefined;
}
