import { codeOf, toError } from '../../../files/error-utils.ts';
import { PastBound } from '../bounds.ts';
import { InvalidInputs, InvalidPromptFile } from '../definition.ts';
import type { TaskName, Work } from './tasks.ts';

/** What a process is to do. */
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
  readonly code: string | undefined;
  /** The fields of its own that its class is made with. */
  readonly made: readonly unknown[];
}

const CLASSES: { readonly [code: string]: (fault: Fault) => Error } = {
  PAST_BOUND: ({ message }) => new PastBound(message),
  INVALID_INPUTS: ({ made }) => new InvalidInputs(...(made as ConstructorParameters<typeof InvalidInputs>)),
  INVALID_PROMPT_FILE: ({ made }) =>
    new InvalidPromptFile(...(made as ConstructorParameters<typeof InvalidPromptFile>)),
};

export function faultOf(thrown: unknown): Fault {
  const error = toError(thrown);
  return { message: error.message, code: codeOf(error), made: madeWith(error) };
}

function madeWith(error: Error): readonly unknown[] {
  if (error instanceof InvalidInputs) return [error.faults];
  if (error instanceof InvalidPromptFile) return [error.file, error.line, error.what, error.findings];
  return [];
}

export function errorOf(fault: Fault): Error {
  const { message, code = '' } = fault;
  const make = Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
  if (make) return make(fault);
  return Object.assign(new Error(message), code !== '' && { code });
}
