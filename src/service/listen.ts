import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { App } from './http/app-type.ts';
import { codeOf, messageOf } from './thrown.ts';

/** The service can't listen where it was told to. The message names the address and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Listens and gives the origin that leads here, such as `http://127.0.0.1:8787`. */
export async function listen(app: App, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new ListenError(`can't listen on ${hostInUrl(host)}:${port}: ${reasonOf(error)}`, { cause: error });
  }
  const address = app.server.address();
  const listening = typeof address === 'object' && address ? address.port : port;
  return `http://${hostInUrl(host)}:${listening}`;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The origin for URLs in an answer. A wildcard address leads nowhere from another machine: there it is the one the
 * caller used.
 */
export function originFor(host: string, origin: string, request: FastifyRequest): string {
  const wildcard = host === '0.0.0.0' || host === '::';
  return wildcard && request.host ? `http://${request.host}` : origin;
}

function hostInUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return 'the port is in use; choose another one with --port, or 0 for any free one';
  }
  if (code === 'EACCES') return 'that port is not allowed; choose one above 1023 with --port';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return 'this machine has no such address; check --host';
  }
  return messageOf(error);
}
