import { errors } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createEngines } from '../../../src/models/engines.ts';
import { ProviderFault } from '../../../src/models/providers/answers/provider-fault.ts';
import { explainFault } from '../../../src/models/providers/explain-fault.ts';
import { FakeProvider, type ProviderHandler } from '../../support/providers/fake-provider.ts';
import { createJob, providerAt } from '../job.ts';

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start('local');
});

afterAll(() => provider.close());

async function ask(handler: ProviderHandler): Promise<EngineResult> {
  provider.reset(handler);
  const model = {
    model: 'tiny',
    engine: 'provider',
    provider: providerAt(provider.baseUrl),
  } as const;

  const sleep = async (): Promise<void> => {};
  return await createEngines({ dataDir: 'nowhere', env: {} }).provider.run(
    createJob({ model, sleep }),
  );
}

describe('a request whose connection fails after it was sent', () => {
  it.each<[string, ProviderHandler, string]>([
    [
      'because the provider closes it',
      response => void response.socket?.destroy(),
      'connection closed by the other side',
    ],
    [
      'because of an answer with too many headers',
      response => void response.writeHead(200, { 'x-many': 'a'.repeat(64 * 1024) }).end('{}'),
      'the headers of the answer are too large',
    ],
  ])('%s may have been paid for and is sent once', async (_, handler, reason) => {
    const { isRefused, fault, outputs } = await ask(handler);
    const [output] = outputs;

    expect(provider.requests).toHaveLength(1);
    expect({ isRefused, fault }).toEqual({ isRefused: false, fault: undefined });

    const message = output?.type === 'error' ? output.message : '';
    expect(message).toMatch(/^\w+ gave no complete answer at 127\.0\.0\.1:\d+: /u);
    expect(message).toContain(`: ${reason}; it may have been paid for`);
    expect(message).not.toContain('UND_ERR');
  });
});

const createSystemError = (code: string, syscall?: string): Error =>
  Object.assign(new Error(`${syscall ?? 'tls'} ${code}`), {
    code,
    ...(syscall !== undefined && { syscall }),
  });

const explain = async (thrown: Error): Promise<Awaited<ReturnType<typeof explainFault>>> => {
  const { model } = createJob({ model: { model: 'tiny', engine: 'provider' } });
  const access = { provider: providerAt('https://api.example.com/v1'), key: undefined, env: {} };
  return await explainFault(thrown, { model, signal: new AbortController().signal }, access);
};

describe('a 403', () => {
  const fault = new ProviderFault('answered 403 no', { status: 403, fault: 'unauthorised' });
  const { model } = createJob({ model: { model: 'tiny', engine: 'provider' } });
  const provider = providerAt('https://api.example.com/v1', { keyVariable: 'TINY_KEY' });
  const { signal } = new AbortController();
  const access = { provider, key: 'k', env: { TINY_KEY: 'k' } };

  it('to a batch says that the key may not use batches', async () => {
    const request = { model, signal, resource: 'batches' };
    const { message } = await explainFault(fault, request, access);
    expect(message).toContain('may not use batches');
  });

  it('to a run says that the key may not use the model', async () => {
    const { message } = await explainFault(fault, { model, signal }, access);
    expect(message).toContain('may not use this model');
  });
});

describe('a fault of the network', () => {
  it.each<[string, Error]>([
    ['a connection that took too long', new errors.ConnectTimeoutError('too long')],
    ['a refused connection', createSystemError('ECONNREFUSED', 'connect')],
    ['a host without a way to it', createSystemError('EHOSTUNREACH', 'connect')],
    ['a network without a way to it', createSystemError('ENETUNREACH', 'connect')],
    ['a connection that the system gave up', createSystemError('ETIMEDOUT', 'connect')],
    ['a name that is not looked up', createSystemError('EAI_FAIL', 'getaddrinfo')],
    ['a certificate that has expired', createSystemError('CERT_HAS_EXPIRED')],
    [
      'a certificate that nobody vouches for',
      createSystemError('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    ],
  ])('costs nothing before the request is sent: %s', async (_, thrown) => {
    const { message, isRefused, fault } = await explain(
      new TypeError('fetch failed', { cause: thrown }),
    );
    expect({ isRefused, fault }).toEqual({ isRefused: true, fault: 'unreachable' });
    expect(message).not.toContain('paid for');
  });

  it.each<[string, Error]>([
    ['a connection that the system gave up while reading', createSystemError('ETIMEDOUT', 'read')],
    ['a pipe that broke while writing', createSystemError('EPIPE', 'write')],
  ])('may have cost something later: %s', async (_, thrown) => {
    const { message, isRefused } = await explain(thrown);
    expect(isRefused).toBe(false);
    expect(message).toContain('it may have been paid for');
  });
});

it('the error about too many open connections says how to have fewer, or to allow more', async () => {
  const { message, isRefused } = await explain(createSystemError('EMFILE', 'connect'));
  expect(message).toContain(
    'too many files and connections are open (EMFILE): lower --concurrency, or raise',
  );
  expect(isRefused).toBe(true);
});
