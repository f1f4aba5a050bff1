import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Started } from './service-process.ts';

/** A server in a separate process. */
export interface Server extends Started {
  process: ChildProcess;
}

/**
 * Starts the local service on a data directory or a database, a bare `node:http`, or one that
 * answers as a service would, at once.
 */
export async function startServer(
  kind: 'service' | 'bare' | 'instant',
  dataDir: string,
  database = '',
): Promise<Server> {
  const child = fork(path.join(import.meta.dirname, 'service-process.mjs'), [
    kind,
    dataDir,
    database,
  ]);
  const [started] = (await once(child, 'message')) as [Started];
  return { ...started, process: child };
}

export function createHeaders(server: Started): Record<string, string> {
  return { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
}

/** Returns the data of an answer. */
export async function fetchData<T>(server: Started, target: string, body?: string): Promise<T> {
  const answer = await fetch(`${server.url}${target}`, {
    headers: createHeaders(server),
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  return ((await answer.json()) as { data: T }).data;
}

/** Returns the version of the sample prompt `hello`. */
export async function sampleVersion(server: Started): Promise<string> {
  const { rows } = await fetchData<{ rows: { promptVersionId: string }[] }>(
    server,
    '/prompts/publish?q=hello',
  );
  return rows[0]?.promptVersionId ?? '';
}

/** Returns the body that creates a run of it. */
export function buildCreation(promptVersionId: string): string {
  return JSON.stringify({ promptVersionId, inputs: { textInputs: { name: 'Ann' } } });
}
