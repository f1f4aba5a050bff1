import type { Connection, Context } from '../context.ts';
import { getTargetConnection } from '../targets/prompt-file.ts';
import { RequestPace } from './request-pace.ts';

/**
 * Default numbers of open creations; more on the embedded service, which needs no connections for
 * them.
 */
const DEFAULT_CONCURRENCY = { remote: 4, embedded: 16 };

/** Minimum length of a pause to report, in milliseconds. */
const MIN_REPORTED_PAUSE_MS = 5000;

/**
 * Returns a connection that limits the rate of its requests.
 *
 * @param rate requests per second, 0 for no limit; by default the service's own limit, and none on
 * the embedded service
 */
export function createPacedConnection(
  ctx: Context,
  connection: Connection,
  rate: number | undefined,
): Connection {
  const isUnlimited =
    connection.recorder?.mode === 'replay' || (rate === undefined && connection.isEmbedded);
  const pace = new RequestPace({
    perSecond: isUnlimited ? 0 : rate,
    clock: ctx.clock,
    timeLeftMs: ctx.timeLeftMs,
    onPause: ms => {
      if (ms < MIN_REPORTED_PAUSE_MS || ms > ctx.timeLeftMs()) return;
      ctx.io.note(`note: too many requests; waiting ${Math.ceil(ms / 1000)} s before the next`);
    },
    onThrottled: perSecond => {
      if (rate !== undefined) return;
      ctx.io.note(
        `note: limited to ${perSecond} requests a second; change this with --rate, 0 for no limit`,
      );
    },
  });
  return { ...connection, client: connection.client.withPace(pace), pace };
}

/** Waits for the turn of a request. Returns a connection whose first request uses that turn. */
export async function takeTurn(connection: Connection, signal: AbortSignal): Promise<Connection> {
  const { client, pace } = connection;
  if (pace === undefined) return connection;

  await pace.turn(signal);
  let isFirstReady = true;
  const waitUnlessReady = async (requestSignal: AbortSignal | undefined): Promise<void> => {
    if (!isFirstReady) await pace.turn(requestSignal);
    isFirstReady = false;
  };

  return {
    ...connection,
    client: client.withPace({
      turn: waitUnlessReady,
      answered: answer => pace.answered(answer),
    }),
  };
}

/**
 * Returns a function that finds the rate-limited connection of a target's service, one for each
 * service.
 */
export function createPacedConnector(
  ctx: Context,
  rate: number | undefined,
): (target: string) => Promise<Connection> {
  const pacedConnections = new Map<Connection, Connection>();
  return async target => {
    const connection = await getTargetConnection(ctx, target);
    const pacedConnection =
      pacedConnections.get(connection) ?? createPacedConnection(ctx, connection, rate);
    pacedConnections.set(connection, pacedConnection);
    return pacedConnection;
  };
}

/** Returns the maximum number of open creations: as requested, else the service's default. */
export function getConcurrency(
  { isEmbedded }: Connection,
  concurrency: number | undefined,
): number {
  return concurrency ?? (isEmbedded ? DEFAULT_CONCURRENCY.embedded : DEFAULT_CONCURRENCY.remote);
}
