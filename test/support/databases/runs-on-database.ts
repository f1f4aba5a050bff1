import { openStore } from '../../../src/service/index.ts';
import type { RunReference } from '../../../src/wire/index.ts';
import { createTemporaryDataDir } from '../local-service.ts';
import type { ServingProcess } from '../serving-process.ts';

/**
 * Long enough for a lease to end and its runs to be taken up: CONTRACT says 30 s, but a busy
 * machine may need more.
 */
export const TAKEN_OVER_MS = 90_000;

/** Creates a key of an author as the operator of the service whose state is in the database. */
export async function createAuthorKey(database: string): Promise<string> {
  const store = await openStore({
    dataDir: createTemporaryDataDir(),
    databaseUrl: database,
    env: {},
  });
  try {
    return (await store.createKey({ user: 'ann', isAuthor: true })).key;
  } finally {
    await store.close();
  }
}

/** Creates users with these credits, and returns a key of each. */
export async function createUserKeys<User extends string>(
  database: string,
  users: Readonly<Record<User, number>>,
): Promise<Record<User, string>> {
  const store = await openStore({
    dataDir: createTemporaryDataDir(),
    databaseUrl: database,
    env: {},
  });
  try {
    const keys: Record<string, string> = {};
    for (const [user, credits] of Object.entries<number>(users)) {
      keys[user] = (await store.createKey({ user, credits })).key;
    }
    return keys;
  } finally {
    await store.close();
  }
}

/** Creates a run and returns its id; rejects if the service does not acknowledge it. */
export async function createAt(
  { url }: ServingProcess,
  key: string,
  body: object,
): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const { data } = (await answer.json()) as { data: RunReference | null };
  if (!data) throw new Error(`not acknowledged: ${answer.status}`);

  return data.runId;
}

/** Returns the body that creates a run of the sandbox which takes so long. */
export function buildSlowRun(promptVersionId: string, delaySeconds: string): object {
  return { promptVersionId, inputs: {}, runOptions: { delaySeconds } };
}
