import { spawn, spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as library from '../../src/index.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/certificates/loopback-certificate.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { findDeadBaseUrl } from '../support/scripted-service.ts';
import { hasLinks } from '../support/system.ts';

const root = path.resolve(import.meta.dirname, '../..');

let home: string;

beforeEach(() => {
  home = createTemporaryDirectory();
});

describe('the library', () => {
  it('exports the client, its errors, waiting and recovering, and the interface', () => {
    const names = `
      ACTION_REQUIRE_HEADER CLI_AGENT_HEADER DEFAULT_LIST_LIMIT ERROR_HTTP_STATUS GatewayTimeoutError IDEMPOTENCY_HEADER
      IDEMPOTENCY_KEY_HEADER IDEMPOTENCY_SUPPORTED IMAGE_INPUT_TYPES InvalidRequestError KNOWN_RUN_OPTION_KEYS MAX_BODY_BYTES
      MAX_BODY_VALUES MAX_IMAGE_BYTES MAX_LIST_LIMIT MAX_QUERY_LENGTH MAX_VERSIONS MEDIA_LIFETIME_MS MODALITIES NetworkError NotFoundError
      OUTPUT_TYPES PATH_PREFIX PaymentRequiredError PromptService PromptServiceError ProtocolError RATE_LIMIT_POLICY_HEADER RUN_STATUSES RateLimitError
      SUCCESS_STATUS SYNC_WINDOW_MS ServiceError UnauthorizedError ValidationError WaitTimeoutError answerIsLost createTransport
      findLostRun findLostRuns isMedia isOver isUuid waitForRun
    `;
    expect(Object.keys(library).sort()).toEqual(names.trim().split(/\s+/));
  });

  it.each([
    { name: 'no protocol', baseUrl: 'service.example' },
    { name: 'another protocol', baseUrl: 'ftp://service.example' },
    { name: 'a password', baseUrl: 'https://user:pass@service.example' },
    { name: 'a query', baseUrl: 'https://service.example/v1?a=b' },
    { name: 'plain http to another machine', baseUrl: 'http://service.example/v1' },
  ])('refuses a base URL with $name', ({ baseUrl }) => {
    expect(() => new library.PromptService({ baseUrl, apiKey: 'key' })).toThrow(
      library.InvalidRequestError,
    );
  });

  it('takes plain http to another machine if the option says so', () => {
    const options = { baseUrl: 'http://promptrun:8787', apiKey: 'key', insecureHttp: true };
    expect(new library.PromptService(options).baseUrl).toBe('http://promptrun:8787/v1');
  });

  it.each([
    { option: 'http://localhost:8787', baseUrl: 'http://localhost:8787/v1' },
    { option: 'https://service.example', baseUrl: 'https://service.example/v1' },
    { option: 'https://service.example/v1/', baseUrl: 'https://service.example/v1' },
    { option: 'https://service.example/prompts//', baseUrl: 'https://service.example/prompts/v1' },
  ])('takes the base URL $option as $baseUrl', ({ option, baseUrl }) => {
    expect(new library.PromptService({ baseUrl: option, apiKey: 'key' }).baseUrl).toBe(baseUrl);
  });

  it.each(['', ' key', 'key\n', 'schlüssel', undefined])('refuses the key %j', apiKey => {
    const options = { baseUrl: 'https://service.example', apiKey: apiKey as string };
    expect(() => new library.PromptService(options)).toThrow(library.InvalidRequestError);
  });

  it('does not repeat a refused key in its error', () => {
    const options = { baseUrl: 'https://service.example', apiKey: 'schlüssel' };
    const createService = (): unknown => new library.PromptService(options);
    expect(createService).toThrow(library.InvalidRequestError);
    expect(createService).not.toThrow('schlüssel');
  });

  it("trusts Node's extra authorities, but takes no address or proxy from the environment", async () => {
    const baseUrl = await startKeyEchoServer();
    const ca = path.join(home, 'ca.pem');
    await writeFile(ca, CERTIFICATE);
    const proxy = await findDeadBaseUrl();
    const outcome = await runScript(
      `import { PromptService } from 'promptrun';
       const service = new PromptService({ baseUrl: '${baseUrl}', apiKey: 'a-key' });
       const account = await service.account.get();
       await service.close();
       console.log(account.username);`,
      {
        NODE_EXTRA_CA_CERTS: ca,
        HTTPS_PROXY: proxy,
        https_proxy: proxy,
        PROMPTRUN_BASE_URL: proxy,
      },
    );

    expect(outcome).toEqual({ code: 0, stdout: 'Bearer a-k\n', stderr: '' });
  });
});

describe('the package', () => {
  it('can be required from CommonJS as well, without a warning', async () => {
    const script = `
      const { PromptService, NotFoundError, isUuid } = require('promptrun');
      console.log(typeof PromptService, typeof NotFoundError, isUuid('x'));`;
    expect(await runScript(script, {}, 'commonjs')).toEqual({
      code: 0,
      stdout: 'function function false\n',
      stderr: '',
    });
  });

  it.runIf(hasLinks).each([
    {
      name: 'an ES module',
      fileName: 'caller.mts',
      imports: "import { type ClientOptions, PromptService, type Run } from 'promptrun';",
    },
    {
      name: 'a CommonJS module',
      fileName: 'caller.cts',
      imports: `
        import promptrun = require('promptrun');
        import PromptService = promptrun.PromptService;
        type ClientOptions = promptrun.ClientOptions;
        type Run = promptrun.Run;`,
    },
  ])('has types with which $name compiles strictly', async ({ fileName, imports }) => {
    const caller = `${imports}
      declare const options: ClientOptions;
      const service = new PromptService(options);
      export async function newest(): Promise<Run | undefined> {
        for await (const { runId } of service.runs.all({ limit: 1 })) {
          return await service.waitForRun(runId, { onPoll: ({ failingMs }) => failingMs.toFixed() });
        }
        return undefined;
      }
      // @ts-expect-error: an id is a text
      void service.runs.get(1);`;

    await mkdir(path.join(home, 'node_modules/@types'), { recursive: true });
    await symlink(root, path.join(home, 'node_modules/promptrun'));

    for (const types of ['@types/node', 'undici-types']) {
      await symlink(path.join(root, 'node_modules', types), path.join(home, 'node_modules', types));
    }

    await writeFile(path.join(home, fileName), caller);
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    const options =
      '--noEmit --strict --target es2022 --module nodenext --skipLibCheck false --types node';
    const compilation = spawnSync(process.execPath, [compiler, ...options.split(' '), fileName], {
      cwd: home,
    });

    expect(compilation.stdout.toString()).toBe('');
    expect(compilation.status).toBe(0);
  });
});

/**
 * Starts a service over HTTPS until the end of the test. The name of its user is the beginning of
 * the header with the key: the client replaces a whole key in what it returns.
 */
async function startKeyEchoServer(): Promise<string> {
  const tls = { cert: CERTIFICATE, key: CERTIFICATE_KEY };
  const server = createServer(tls, ({ headers }, response) => {
    const account = { username: headers.authorization?.slice(0, 'Bearer a-k'.length) };
    response.end(JSON.stringify({ status: 'SUCCESS', data: account }));
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

/** Runs a script that imports the built package by its name. */
async function runScript(
  script: string,
  env: Readonly<Record<string, string>>,
  type = 'module',
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [`--input-type=${type}`, '-e', script], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: home, ...env },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }

  const code = await new Promise<number | null>(resolve => child.on('close', resolve));
  return { code, ...output };
}
