import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** Parsed JSON. */
  readonly body: unknown;
}

export interface JsonServer {
  /** Host and port. */
  readonly host: string;
  /** The host as a URL, without a slash at its end. */
  readonly address: string;
  /** The requests so far, in the order in which they came. */
  readonly requests: readonly ReceivedRequest[];
}

/**
 * Starts a server that takes JSON and answers everything with this JSON; it is closed with the
 * test.
 */
export async function startJsonServer(answer: unknown): Promise<JsonServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const reply = async (): Promise<void> => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body: JSON.parse(await text(request)) as unknown });
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    };
    void reply();
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return { host, address: `http://${host}`, requests };
}
