import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { type CommandOutcome, runCommand } from '../support/command.ts';
import { createDirectoryWith, createTemporaryDirectory, runInProcess } from '../support/context.ts';
import { failure, startScriptedServiceForTest } from '../support/scripted-service.ts';
import { buildServiceEnv } from '../support/service-for-test.ts';
import { isPosix } from '../support/system.ts';

const RUN_ID = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';

describe('--timeout', () => {
  async function runWithSilentService(command: string): Promise<CommandOutcome> {
    const home = createDirectoryWith({
      'rows.csv': 'id\n1\n',
      'tea.test.yaml': 'target: tea\ncases:\n  - expect: [{ contains: tea }]\n',
    });
    const service = await startScriptedServiceForTest({ answer: 'silence', times: 'any' });
    const env = buildServiceEnv(service.baseUrl);
    return await runCommand([...command.split(' '), '--timeout', '300ms'], { home, env });
  }

  it.each([
    'runs list',
    'runs get 5f0c8f',
    'prompts search tea',
    'versions list tea',
    'resources list',
    'account',
    'api GET /me',
    'run tea',
    `run ${RUN_ID}`,
    'batch tea --from rows.csv',
    'compare tea tea --from rows.csv',
    'test',
  ])('bounds %s if the service accepts and says nothing', async command => {
    const { code, stderr } = await runWithSilentService(command);
    expect(stderr).toMatch(/^error: .*gave up.* \(WAIT_TIMEOUT\)$/m);
    expect(code).toBe(EXIT.waitTimeout);
  });

  it('bounds doctor, which reports such a service as a fault', async () => {
    expect((await runWithSilentService('doctor')).code).toBe(EXIT.fault);
  });

  it
    .runIf(isPosix)
    .each([
      ['run hello -i name=@pipe'],
      ['run describe --image pipe'],
      ['batch hello --from pipe --format csv'],
    ])('bounds %s if nobody writes to the pipe that it reads', async command => {
    const home = createTemporaryDirectory();
    execFileSync('mkfifo', [path.join(home, 'pipe')]);
    const { code, stderr } = await runCommand([...command.split(' '), '--timeout', '300ms'], {
      home,
    });
    expect(code, stderr).toBe(EXIT.waitTimeout);
  });

  it.each([
    { retryAfter: '50', wait: '50 seconds', hint: 'Allow more time with --timeout.' },
    { retryAfter: '90', wait: '90 seconds', hint: 'Try again in 90 seconds.' },
    { retryAfter: '86401', wait: 'more than a day', hint: 'Try again in more than a day.' },
  ])(
    'ends the command before a wait that the service asks for and that is longer: $retryAfter s',
    async ({ retryAfter, wait, hint }) => {
      const headers = { 'retry-after': retryAfter };
      const busy = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, headers);
      const service = await startScriptedServiceForTest({ answer: busy });

      // Only the time limit is waited for, and not to its end.
      const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
        new Promise((_, reject) => {
          expect(ms).toBe(40_000);
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });

      const { exitCode, stderr } = await runInProcess(['api', 'GET', '/me', '--timeout', '40s'], {
        clock: { sleep },
        env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'the-key' },
      });
      expect(exitCode).toBe(EXIT.waitTimeout);
      expect(stderr()).toContain(`the next attempt is due in ${wait}, after the time of --timeout`);
      expect(stderr()).toContain(hint);
    },
  );
});
