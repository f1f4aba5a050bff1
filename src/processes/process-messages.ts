import { toError } from '../utils/error-utils.ts';
import { LimitExceededError } from '../utils/limit-exceeded.ts';

/** A message of a bounded process: it has begun, is done, or has failed. */
export type ProcessReply =
  | { readonly state: 'begun' }
  | { readonly state: 'done'; readonly result: unknown }
  | { readonly state: 'failed'; readonly error: SerializedError };

/** An error as it is sent between processes, which would lose its class. */
export interface SerializedError {
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
}

/** Error classes by the `code` of their errors. */
export type ErrorClasses = ReadonlyMap<unknown, { readonly prototype: Error }>;

function serializeError(thrown: unknown): SerializedError {
  const error = toError(thrown);
  return { message: error.message, fields: Object.fromEntries(Object.entries(error)) };
}

/** Restores an error, with its class if that is LimitExceededError or among `classes`. */
export function restoreError({ message, fields }: SerializedError, classes: ErrorClasses): Error {
  const code = fields['code'];
  const { prototype } = code === 'PAST_BOUND' ? LimitExceededError : (classes.get(code) ?? Error);
  return Object.assign(Object.setPrototypeOf(new Error(message), prototype) as Error, fields);
}

type Perform<Order> = (order: Order, reportBegun: () => Promise<void>) => Promise<unknown>;

/**
 * Performs the orders of the parent process until that has ended.
 *
 * @param perform calls `reportBegun` once its time starts to count
 */
export function performOrders<Order>(perform: Perform<Order>): void {
  // Waits until the reply has left: blocking work must not hold it back.
  const reply = (message: ProcessReply): Promise<void> =>
    new Promise(resolve => {
      process.send?.(message, undefined, undefined, () => resolve());
    });
  process.on('message', (order: Order) => {
    perform(order, () => reply({ state: 'begun' })).then(
      result => reply({ state: 'done', result }),
      (error: unknown) => reply({ state: 'failed', error: serializeError(error) }),
    );
  });
  // Ctrl-C is for the parent, which may finish its work first and then ends this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}
