import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/service/core/clock.ts';
import { type Service, startService } from '../../src/service/index.ts';
import { removeDirectory } from './context.ts';

/** A service of the test's own, and how many runs it has. */
export interface ServiceForTest {
  readonly service: Service;
  readonly env: Readonly<Record<string, string>>;
  readonly runs: () => Promise<TestRun[]>;
  /** Resolves once every run has ended. */
  readonly settled: () => Promise<void>;
}

export interface TestRun {
  readonly runId: string;
  readonly runStatus: string;
  readonly outputs: readonly { readonly data: string }[];
}

/** Starts a service that is closed at the end of the test, or by whatever `atEnd` gets it. */
export async function startServiceForTest(
  options: { syncWindowMs?: number; clock?: Clock } = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<ServiceForTest> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'promptrun-test-'));
  const service = await startService({ dataDir, env: {}, ...options });
  atEnd(async () => {
    await service.close();
    removeDirectory(dataDir);
  });

  const runs = async (): Promise<TestRun[]> => {
    const answer = await fetch(`${service.url}/runs?limit=50`, {
      headers: { authorization: `Bearer ${service.sessionKey}` },
    });
    return ((await answer.json()) as { data: { rows: TestRun[] } }).data.rows;
  };

  return {
    service,
    env: buildServiceEnv(service.url, service.sessionKey),
    runs,
    async settled() {
      while (
        (await runs()).some(({ runStatus }) => runStatus === 'queued' || runStatus === 'running')
      ) {
        await new Promise(resolve => setImmediate(resolve));
      }
    },
  };
}

export function buildServiceEnv(baseUrl: string, key = 'a-key'): Record<string, string> {
  return { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: key };
}
