import { toError } from '../../files/error-utils.ts';
import { PastBound } from '../bounds.ts';
import { InvalidInputs } from '../definition.ts';
import { InvalidPromptFile } from '../findings.ts';
import type { TaskName, Work } from './tasks.ts';

export interface TaskOrder {
  readonly name: TaskName;
  readonly work: Work<TaskName>;
}

/** What was not done when the processes were closed. */
export class TasksClosed extends Error {
  override readonly name = 'TasksClosed';
}

/** What a process says: that it has begun, and how it went. */
export type Reply =
  | { readonly state: 'begun' }
  | { readonly state: 'done'; readonly result: unknown }
  | { readonly state: 'failed'; readonly fault: Fault };

/** An error on its way from one process to another, where its class would be lost. */
export interface Fault {
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
}

const CLASSES = new Map<unknown, { readonly prototype: Error }>([
  ['PAST_BOUND', PastBound],
  ['INVALID_INPUTS', InvalidInputs],
  ['INVALID_PROMPT_FILE', InvalidPromptFile],
]);

export function faultOf(thrown: unknown): Fault {
  const error = toError(thrown);
  return { message: error.message, fields: Object.fromEntries(Object.entries(error)) };
}

export function errorOf({ message, fields }: Fault): Error {
  const { prototype } = CLASSES.get(fields['code']) ?? Error;
  return Object.assign(Object.setPrototypeOf(new Error(message), prototype) as Error, fields);
}
