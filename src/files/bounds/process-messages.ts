import { toError } from '../error-utils.ts';
import { PastBound } from './past-bound.ts';

/** What a bounded process answers: that it has begun, and how it went. */
export type Reply =
  | { readonly state: 'begun' }
  | { readonly state: 'done'; readonly result: unknown }
  | { readonly state: 'failed'; readonly fault: Fault };

/** An error on its way from one process to another, where its class would be lost. */
export interface Fault {
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
}

/** Classes of errors by the `code` that their errors carry. */
export type ErrorClasses = ReadonlyMap<unknown, { readonly prototype: Error }>;

function sentFault(thrown: unknown): Fault {
  const error = toError(thrown);
  return { message: error.message, fields: Object.fromEntries(Object.entries(error)) };
}

/** The error that a fault was, of its class if that is PastBound or among `classes`. */
export function errorOf({ message, fields }: Fault, classes: ErrorClasses): Error {
  const code = fields['code'];
  const { prototype } = code === 'PAST_BOUND' ? PastBound : (classes.get(code) ?? Error);
  return Object.assign(Object.setPrototypeOf(new Error(message), prototype) as Error, fields);
}

type Perform<Order> = (order: Order, begun: () => Promise<void>) => Promise<unknown>;

/**
 * Performs the orders that the parent of this process sends, until it has gone.
 *
 * @param perform calls `begun` as soon as its time counts
 */
export function performOrders<Order>(perform: Perform<Order>): void {
  // What blocks this process must not keep an earlier reply in it.
  const reply = (message: Reply): Promise<void> =>
    new Promise(resolve => {
      process.send?.(message, undefined, undefined, () => resolve());
    });
  process.on('message', (order: Order) => {
    perform(order, () => reply({ state: 'begun' })).then(
      result => reply({ state: 'done', result }),
      (error: unknown) => reply({ state: 'failed', fault: sentFault(error) }),
    );
  });
  // A Ctrl-C is for the parent, which may finish what it has begun, and ends this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}
