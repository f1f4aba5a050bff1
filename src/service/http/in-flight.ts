import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Busy } from '../busy.ts';

/** The requests whose answer is not out yet, from the moment their headers arrived. */
export function inFlight(server: Server): Busy {
  const busy = new Busy();
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    busy.track(once(response, 'close')).catch(() => {});
  });
  return busy;
}
