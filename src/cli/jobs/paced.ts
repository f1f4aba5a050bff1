import type { Connection, Context } from '../context.ts';
import { connectionFor } from '../targets/prompt-file.ts';
import { RequestPace } from './request-pace.ts';

/** Creations open at a time, if nothing says otherwise: this machine's own service needs no connections for them. */
const USUAL = { elsewhere: 4, here: 16 };
const PAUSE_TOLD_MS = 5000;

/**
 * A connection whose requests wait for their turns.
 *
 * @param rate requests a second, 0 for no limit; by default what the service says, and none on this machine's own
 */
export function pacedConnection(ctx: Context, connection: Connection, rate: number | undefined): Connection {
  const isFree = connection.recorder?.mode === 'replay' || (rate === undefined && connection.embedded);
  const pace = new RequestPace({
    perSecond: isFree ? 0 : rate,
    clock: ctx.clock,
    onPause: ms => {
      if (ms < PAUSE_TOLD_MS) return;
      ctx.io.note(`note: too many requests; all of them wait ${Math.ceil(ms / 1000)} s`);
    },
    onHeldBack: perSecond => {
      if (rate !== undefined) return;
      ctx.io.note(`note: held back to ${perSecond} requests a second; --rate changes that, 0 is no limit`);
    },
  });
  return { ...connection, client: connection.client.withPace(pace) };
}

/** The paced connection to the service that runs a target; one for each service. */
export function pacedConnections(
  ctx: Context,
  rate: number | undefined,
): (target: string) => Promise<Connection> {
  const paced = new Map<Connection, Connection>();
  return async target => {
    const connection = await connectionFor(ctx, target);
    const known = paced.get(connection) ?? pacedConnection(ctx, connection, rate);
    paced.set(connection, known);
    return known;
  };
}

/** How many creations are open at a time. */
export function concurrencyFor({ embedded }: Connection, concurrency: number | undefined): number {
  return concurrency ?? (embedded ? USUAL.here : USUAL.elsewhere);
}
