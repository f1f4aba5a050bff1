import { describe, expect, it, onTestFinished } from 'vitest';
import {
  configError,
  Interrupted,
  notFoundError,
  usageError,
  waitTimeoutError,
} from '../../../src/cli/core/errors.ts';
import { getHttpExitCode, toFailure } from '../../../src/cli/core/failure.ts';
import {
  InvalidRequestError,
  NetworkError,
  ProtocolError,
  WaitTimeoutError,
} from '../../../src/client/errors.ts';
import { ERROR_HTTP_STATUS } from '../../../src/wire/index.ts';
import { runInProcess } from '../../support/context.ts';
import {
  failure,
  type ScriptedAnswer,
  startScriptedService,
} from '../../support/scripted-service.ts';

describe('the exit code', () => {
  it.each<[number, Error]>([
    [2, usageError('x')],
    [2, configError('x')],
    [4, notFoundError('x')],
    [6, waitTimeoutError('x', { hints: [] })],
    [6, new WaitTimeoutError('x', 'id')],
    [130, new Interrupted('SIGINT')],
    [143, new Interrupted('SIGTERM')],
    [1, new NetworkError('x', { nothingSent: true })],
    [1, new ProtocolError('x')],
    [2, new InvalidRequestError('x')],
    [1, new TypeError('x')],
    [1, Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' })],
    [2, Object.assign(new Error('x'), { code: 'INVALID_PROMPT_FILE' })],
    [2, Object.assign(new Error('x'), { code: 'UNUSABLE_STORE' })],
    [1, Object.assign(new Error('x'), { code: 'CANNOT_LISTEN' })],
  ])('%i: %s', (exitCode, error) => {
    expect(toFailure(error).exitCode).toBe(exitCode);
  });

  it.each(Object.entries(ERROR_HTTP_STATUS).map(([status, http]) => ({ status, http })))(
    'of $http $status from the service is that of the table',
    async ({ status, http }) => {
      const expected: Record<number, number> = {
        400: 2,
        401: 3,
        402: 3,
        403: 3,
        404: 4,
        410: 4,
        413: 2,
        416: 2,
        421: 2,
        422: 2,
        429: 7,
        431: 2,
      };
      expect(await account(failure(http, status, 'no', { a: 1 }), '--json')).toEqual({
        exitCode: expected[http] ?? 1,
        stdout: '',
        stderr: `{"status":"${status}","message":"no","data":{"a":1},"exitCode":${expected[http] ?? 1}}\n`,
      });
      expect(getHttpExitCode(http)).toBe(expected[http] ?? 1);
    },
  );
});

describe('what a service says', () => {
  it('stays on one line and cannot drive the terminal', async () => {
    const message = 'no\nerror: all is lost\u001b[2J\u009b31m';
    const { stderr } = await account(failure(404, 'NOT_FOUND_ERROR\u001b[0m', message));
    expect(stderr).toBe('error: no error: all is lost^[[2J\\u009b31m (NOT_FOUND_ERROR^[[0m)\n');
  });

  it('comes without a stack trace but for --debug', async () => {
    const refusal = failure(422, 'VALIDATION_ERROR', 'no');
    expect((await account(refusal)).stderr).toBe('error: no (VALIDATION_ERROR)\n');
    expect((await account(refusal, '--debug')).stderr).toMatch(
      /^debug: ValidationError: no\n +at /m,
    );
  });

  it('is not taken for the service if a proxy on the way refuses', async () => {
    const { exitCode, stderr } = await account({ status: 403, body: '<html>no</html>' });
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringContaining('a proxy or a gateway on the way'),
    ]);
    expect(stderr).not.toContain('valid, but');
    expect((await account(failure(403, 'FORBIDDEN_ERROR', 'no'))).stderr).toContain('valid, but');
  });

  it('is never the key', async () => {
    const { stderr } = await account(
      failure(401, 'UNAUTHORIZED_ERROR', 'a-long-secret-key is unknown'),
      '--debug',
      '--json',
    );
    expect(stderr).not.toContain('a-long-secret-key');
  });
});

/** Runs `account` against a service that answers each request with `answer`. */
async function account(answer: ScriptedAnswer, ...flags: string[]) {
  const service = await startScriptedService([{ answer, times: 'any' }]);
  onTestFinished(() => service.close());
  const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-long-secret-key' };
  const { exitCode, stdout, stderr } = await runInProcess(['account', ...flags], { env });
  return { exitCode, stdout: stdout(), stderr: stderr() };
}
