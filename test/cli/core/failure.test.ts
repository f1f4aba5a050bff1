import { describe, expect, it, onTestFinished } from 'vitest';
import {
  configError,
  InterruptedError,
  notFoundError,
  usageError,
  waitTimeoutError,
} from '../../../src/cli/core/errors.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
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
  it('is a number that scripts rely on, whatever the code calls it', () => {
    expect(EXIT).toEqual({
      ok: 0,
      fault: 1,
      usage: 2,
      unauthorised: 3,
      notFound: 4,
      runFailed: 5,
      waitTimeout: 6,
      rateLimited: 7,
      capReached: 8,
      interrupted: 130,
      terminated: 143,
    });
  });

  it.each<[number, Error]>([
    [EXIT.usage, usageError('x')],
    [EXIT.usage, configError('x')],
    [EXIT.notFound, notFoundError('x')],
    [EXIT.waitTimeout, waitTimeoutError('x', { hints: [] })],
    [EXIT.waitTimeout, new WaitTimeoutError('x', 'id')],
    [EXIT.interrupted, new InterruptedError('SIGINT')],
    [EXIT.terminated, new InterruptedError('SIGTERM')],
    [EXIT.fault, new NetworkError('x', { nothingSent: true })],
    [EXIT.fault, new ProtocolError('x')],
    [EXIT.usage, new InvalidRequestError('x')],
    [EXIT.fault, new TypeError('x')],
    [EXIT.fault, Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' })],
    [EXIT.usage, Object.assign(new Error('x'), { code: 'INVALID_PROMPT_FILE' })],
    [EXIT.usage, Object.assign(new Error('x'), { code: 'UNUSABLE_STORE' })],
    [EXIT.fault, Object.assign(new Error('x'), { code: 'CANNOT_LISTEN' })],
  ])('is %i for %s', (exitCode, error) => {
    expect(toFailure(error).exitCode).toBe(exitCode);
  });

  it.each(Object.entries(ERROR_HTTP_STATUS).map(([status, http]) => ({ status, http })))(
    'follows from HTTP status $http of an error $status of the service',
    async ({ status, http }) => {
      const exitCodes: Record<number, number> = {
        400: EXIT.usage,
        401: EXIT.unauthorised,
        402: EXIT.unauthorised,
        403: EXIT.unauthorised,
        404: EXIT.notFound,
        410: EXIT.notFound,
        413: EXIT.usage,
        416: EXIT.usage,
        421: EXIT.usage,
        422: EXIT.usage,
        429: EXIT.rateLimited,
        431: EXIT.usage,
      };
      const exitCode = exitCodes[http] ?? EXIT.fault;

      expect(await runAccount(failure(http, status, 'no', { a: 1 }), '--json')).toEqual({
        exitCode,
        stdout: '',
        stderr: `{"status":"${status}","message":"no","data":{"a":1},"exitCode":${exitCode}}\n`,
      });
      expect(getHttpExitCode(http)).toBe(exitCode);
    },
  );
});

describe('the report of an error of the service', () => {
  it('is one line, without control characters of the message', async () => {
    const message = 'no\nerror: all is lost\u001b[2J\u009b31m';
    const { stderr } = await runAccount(failure(404, 'NOT_FOUND_ERROR\u001b[0m', message));
    expect(stderr).toBe('error: no error: all is lost^[[2J\\u009b31m (NOT_FOUND_ERROR^[[0m)\n');
  });

  it('has a stack trace only with --debug', async () => {
    const refusal = failure(422, 'VALIDATION_ERROR', 'no');
    expect((await runAccount(refusal)).stderr).toBe('error: no (VALIDATION_ERROR)\n');
    expect((await runAccount(refusal, '--debug')).stderr).toMatch(
      /^debug: ValidationError: no\n +at /m,
    );
  });

  it('blames a proxy or a gateway, not the key, for a refusal that is not of the service', async () => {
    const { exitCode, stderr } = await runAccount({ status: 403, body: '<html>no</html>' });
    expect(stderr).toContain('a proxy or a gateway on the way');
    expect(exitCode).toBe(EXIT.unauthorised);
    expect(stderr).not.toContain('valid, but');
    expect((await runAccount(failure(403, 'FORBIDDEN_ERROR', 'no'))).stderr).toContain(
      'valid, but',
    );
  });

  it('does not contain the key that the service repeats', async () => {
    const { stderr } = await runAccount(
      failure(401, 'UNAUTHORIZED_ERROR', 'a-long-secret-key is unknown'),
      '--debug',
      '--json',
    );
    expect(stderr).toContain('is unknown');
    expect(stderr).not.toContain('a-long-secret-key');
  });
});

/** Runs `account` against a service that answers each request with `answer`. */
async function runAccount(answer: ScriptedAnswer, ...flags: string[]) {
  const service = await startScriptedService([{ answer, times: 'any' }]);
  onTestFinished(() => service.close());
  const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-long-secret-key' };
  const { exitCode, stdout, stderr } = await runInProcess(['account', ...flags], { env });
  return { exitCode, stdout: stdout(), stderr: stderr() };
}
