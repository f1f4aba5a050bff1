import { onTestFinished } from 'vitest';
import { PromptService } from '../../src/client/client.ts';
import type { ClientOptions, RequestEvent } from '../../src/client/request-options.ts';
import {
  type Exchange,
  type ScriptedService,
  startScriptedServiceForTest,
} from './scripted-service.ts';

export const KEY = 'key-of-the-tests-0123456789';

/** A client whose sleeps take no time; they only advance its clock. */
export class TestClient extends PromptService {
  /** The waits that were slept, in milliseconds. */
  readonly slept: number[];
  readonly events: RequestEvent[];

  constructor(baseUrl: string, options: Partial<ClientOptions> = {}) {
    const slept: number[] = [];
    const events: RequestEvent[] = [];

    let passed = 0;
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
      signal?.throwIfAborted();
      slept.push(ms);
      passed += ms;
      return Promise.resolve();
    };

    super({
      baseUrl,
      apiKey: KEY,
      sleep,
      now: () => Date.now() + passed,
      random: () => 1,
      onEvent: event => events.push(event),
      ...options,
    });

    this.slept = slept;
    this.events = events;
  }
}

/** Returns a client that is closed when the test is over. */
export function testClient(baseUrl: string, options?: Partial<ClientOptions>): TestClient {
  const client = new TestClient(baseUrl, options);
  onTestFinished(() => client.close());
  return client;
}

/**
 * Starts a scripted service, all of whose script must be used, and a client of it; both end with
 * the test.
 */
export async function startScriptedClient(
  script: readonly Exchange[],
  options?: Partial<ClientOptions>,
): Promise<{ service: ScriptedService; client: TestClient }> {
  const service = await startScriptedServiceForTest(...script);
  return { service, client: testClient(service.baseUrl, options) };
}

/** Starts both for a script that is given by its exchanges. */
export function startScript(
  ...script: readonly Exchange[]
): ReturnType<typeof startScriptedClient> {
  return startScriptedClient(script);
}

/** Returns the error in which a promise ends, of the expected class. */
export async function getRejection<E extends Error>(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => E,
): Promise<E> {
  const error = await promise.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof type) return error;
  throw new Error(`expected ${type.name}`, { cause: error });
}
