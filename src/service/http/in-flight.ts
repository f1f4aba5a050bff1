import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { PendingWork } from '../lifecycle/pending-work.ts';

/** The requests whose answer is not out yet, from the moment their headers arrived. */
export function inFlight(server: Server): PendingWork {
  const pending = new PendingWork();
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    pending.track(once(response, 'close')).catch(() => {});
  });
  return pending;
}
