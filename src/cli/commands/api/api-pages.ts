import type { Circle } from '../../../client/circle.ts';
import type { ApiCall } from './api-call.ts';

/**
 * The call for the page after this one, in the direction the first one asked for; undefined at the end.
 *
 * @throws {ProtocolError} where the pages go round in a circle
 */
export function nextPage(
  call: ApiCall,
  envelope: { readonly data?: unknown },
  circle: Circle,
): ApiCall | undefined {
  const { rows, hasMore } = (envelope.data ?? {}) as { rows?: unknown; hasMore?: unknown };
  if (hasMore !== true || !Array.isArray(rows)) return undefined;
  const backwards = call.query.has('endingBefore');
  const cursor = backwards ? 'endingBefore' : 'startingAfter';
  const { runId } = ((backwards ? rows[0] : rows.at(-1)) ?? {}) as { runId?: unknown };
  if (typeof runId !== 'string' || call.query.get(cursor) === runId) return undefined;
  circle.pass(runId);
  const query = new URLSearchParams(call.query);
  query.set(cursor, runId);
  return { ...call, query };
}
