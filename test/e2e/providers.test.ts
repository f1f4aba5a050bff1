import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { certificate } from '../support/certificates/certificate.ts';
import { runCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import {
  chatAnswer,
  FakeProvider,
  type ProviderHandler,
} from '../support/providers/fake-provider.ts';
import { onTerminal } from '../support/terminals/terminal-command.ts';

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

/**
 * Returns a home whose prompt `ask.prompt` is run by the model `tiny`, and the environment it is
 * used in.
 */
function homeWith(modelsYaml?: string): { home: string; env: Record<string, string> } {
  const home = createTemporaryDirectory();
  const dataDir = path.join(home, 'the-data');
  mkdirSync(dataDir, { mode: 0o700 });
  if (modelsYaml !== undefined) writeFileSync(path.join(dataDir, 'models.yaml'), modelsYaml);
  writeFileSync(path.join(home, 'ask.prompt'), '---\nmodel: tiny\n---\nTell a story');
  return { home, env: { PROMPTRUN_DATA_DIR: dataDir, OLLAMA_HOST: '127.0.0.1:9' } };
}

const tinyAt = (baseUrl: string): string =>
  `providers: {here: {baseUrl: "${baseUrl}"}}\nmodels: [{model: tiny, modality: text, provider: here}]\n`;

it('discovers the models of an endpoint, and runs one of them', async () => {
  const { home, env } = homeWith();
  const before = await runCommandHere(['run', 'ask.prompt'], { home, env });

  expect(before).toMatchObject({
    code: EXIT.usage,
    stderr: expect.stringContaining('promptrun models discover') as string,
  });

  provider.reset({ body: { data: [{ id: 'tiny' }, { id: 'text-embedding-1' }] } });
  const found = await runCommandHere(['models', 'discover', '--json'], {
    home,
    env: { ...env, OPENAI_BASE_URL: provider.baseUrl },
  });

  expect(found.code).toBe(0);
  expect(JSON.parse(found.stdout)).toMatchObject({
    endpoints: [{ provider: 'openai', added: ['tiny'], others: 1 }],
  });

  provider.reset(chatAnswer('Once upon a time'));
  const ran = await runCommandHere(['run', 'ask.prompt'], { home, env });

  expect(ran).toMatchObject({ code: 0, stdout: 'Once upon a time\n' });
});

it('runs after a discovery what ran before it, and warns of what will be shut down', async () => {
  const { home, env } = homeWith();
  const keyed = { ...env, OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-test' };
  const runLine = (...words: string[]) => runCommandHere(words, { home, env: keyed });

  const answerRequest: ProviderHandler = (response, request) => {
    if (request.headers.authorization !== 'Bearer sk-test') {
      response.writeHead(401).end('{}');
      return;
    }

    const list = {
      data: [{ id: 'tiny', shutdown_date: '2020-01-01' }, { id: 'anthropic/claude-9' }],
    };
    const answer = request.path.endsWith('/models') ? list : chatAnswer('Once upon a time').body;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };

  provider.reset(
    answerRequest,
    answerRequest,
    answerRequest,
    answerRequest,
    answerRequest,
    answerRequest,
  );
  expect(await runLine('run', 'ask.prompt')).toMatchObject({
    code: 0,
    stdout: 'Once upon a time\n',
  });
  expect(await runLine('models', 'discover')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/no price is known for tiny, .*price: \{input/) as string,
  });

  for (const model of ['tiny', 'openai/tiny']) {
    expect(await runLine('run', 'ask.prompt', '-m', model)).toMatchObject({
      code: 0,
      stdout: 'Once upon a time\n',
      stderr: expect.stringContaining('the model tiny was shut down on 2020-01-01') as string,
    });
  }

  expect(await runLine('prompts', 'check', 'ask.prompt')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      'ask.prompt:2:8: note: the model tiny was shut down on 2020-01-01',
    ) as string,
  });

  expect(await runLine('doctor')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('warning: tiny was shut down on 2020-01-01') as string,
  });
  expect(await runLine('run', 'ask.prompt', '-m', 'anthropic/claude-9')).toMatchObject({
    code: EXIT.unauthorised,
    stderr: expect.stringContaining('set ANTHROPIC_API_KEY') as string,
  });
});

it('refuses an option that no model takes, and notes what the model of the file drops', async () => {
  const { home, env } = homeWith();
  const writePrompt = (model: string, config: string): void =>
    writeFileSync(
      path.join(home, 'ask.prompt'),
      `---\nmodel: ${model}\nconfig:\n  ${config}\n---\nTell a story`,
    );

  const check = (...flags: string[]) =>
    runCommandHere(['prompts', 'check', 'ask.prompt', ...flags], { home, env });
  writePrompt('nobody-knows', 'temperature: hot');
  const fault = 'ask.prompt:4:3: fault: `temperature` must be a number from 0 to 2, not `hot`';

  expect(await check()).toMatchObject({
    code: EXIT.usage,
    stdout: expect.stringContaining(fault) as string,
  });
  expect(await runCommandHere(['run', 'ask.prompt', '-m', 'echo'], { home, env })).toMatchObject({
    code: EXIT.usage,
    stdout: '',
    stderr: expect.stringContaining('ask.prompt:4: `temperature` must be') as string,
  });

  writePrompt('openai/gpt-6-luna', 'temperature: "0.5"');
  expect(await check()).toMatchObject({
    code: 0,
    stdout: 'ask.prompt:4:3: note: gpt-6-luna does not take temperature: left out\n',
  });

  writePrompt(
    'googleai/gemini-2.5-flash',
    'temperature: 0.5\noutput: {schema: {type: object, properties: {a: {type: string, minLength: 2}}}}',
  );
  expect(await check()).toMatchObject({
    code: 0,
    stdout:
      "ask.prompt:5:10: note: gemini-2.5-flash does not take the schema's minLength: left out\n",
  });

  writePrompt('nobody-knows', 'temperature: 0.5');
  expect(await check()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('does not exist') as string,
  });
  expect(await check('--models')).toMatchObject({ code: EXIT.usage });
});

it("says that there is nothing to discover, or that an endpoint can't be asked", async () => {
  const { home, env } = homeWith();
  expect(await runCommandHere(['models', 'discover'], { home, env })).toMatchObject({
    code: EXIT.usage,
    stderr: expect.stringContaining('OPENAI_BASE_URL') as string,
  });

  const wrongEnv = { ...env, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
  expect(await runCommandHere(['models', 'discover'], { home, env: wrongEnv })).toMatchObject({
    code: EXIT.fault,
    stderr: expect.stringContaining('nothing listens there') as string,
  });

  provider.reset({ status: 401, body: { error: { message: 'no' } } });
  const refusedEnv = { ...env, OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-test' };

  expect(await runCommandHere(['models', 'discover'], { home, env: refusedEnv })).toMatchObject({
    code: EXIT.unauthorised,
    stderr: expect.stringContaining('it refuses the key (401): check OPENAI_API_KEY') as string,
  });
});

it('reaches a provider over https through a proxy', async () => {
  const { proxy, tunnels } = await startProxyToTls();
  const { home, env } = homeWith(tinyAt('https://pictures.example/v1'));
  const trusted = path.join(home, 'certificate.pem');
  writeFileSync(trusted, certificate.cert);
  const { code, stdout, stderr } = await runCommand(['run', 'ask.prompt'], {
    home,
    env: { ...env, HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: trusted },
  });

  expect(stderr).not.toContain('error');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Through the tunnel\n' });
  expect(tunnels).toEqual(['pictures.example:443']);
});

async function startProxyToTls(): Promise<{ proxy: string; tunnels: string[] }> {
  const tunnels: string[] = [];
  const target = createTlsServer(certificate, (request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(chatAnswer('Through the tunnel').body));
  });

  const proxy = createServer();
  proxy.on('connect', (request, client) => {
    tunnels.push(request.url ?? '');
    const upstream = connect((target.address() as AddressInfo).port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
  });

  await Promise.all([target, proxy].map(listen));

  onTestFinished(() => {
    for (const server of [target, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  });

  return { proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, tunnels };
}

const listen = (server: Server): Promise<void> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', resolve));

const event = (content: string, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content }, ...more }] })}\n\n`;

it('shows text on a terminal while it is made, made harmless, and once', async () => {
  let goOn = (): void => {};

  const answerSlowly: ProviderHandler = response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('Once \u001b[31mupon'));
    goOn = () => response.end(`${event(' a time.', { finish_reason: 'stop' })}data: [DONE]\n\n`);
  };

  provider.reset(answerSlowly);
  const { home, env } = homeWith(tinyAt(provider.baseUrl));
  const terminal = onTerminal(['run', 'ask.prompt'], { home, env });
  await terminal.waitFor('Once ^[[31mupon');
  goOn();

  expect(await terminal.exit()).toBe(0);
  expect(terminal.text().match(/Once/g)).toHaveLength(1);
  expect(terminal.text()).toContain('Once ^[[31mupon a time.');

  const later = await runCommandHere(['runs', 'get', '--last'], { home, env });
  expect(later.stdout).toBe('Once \u001b[31mupon a time.\n');
});

it('requests the whole text with --no-stream, and if output is piped', async () => {
  const { home, env } = homeWith(tinyAt(provider.baseUrl));
  provider.reset(chatAnswer('Whole'));
  const terminal = onTerminal(['run', 'ask.prompt', '--no-stream'], { home, env });
  expect(await terminal.exit()).toBe(0);
  await runCommandHere(['run', 'ask.prompt'], { home, env });
  for (const index of [0, 1]) expect(provider.body(index)).not.toHaveProperty('stream');
});

it('keeps the text of an answer that breaks off, and fails', async () => {
  const cut: ProviderHandler = response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('Once upon'), () => response.destroy());
  };

  provider.reset(cut);
  const { home, env } = homeWith(tinyAt(provider.baseUrl));
  const terminal = onTerminal(['run', 'ask.prompt'], { home, env });

  expect(await terminal.exit()).toBe(5);
  expect(terminal.text()).toMatch(/Once upon\s+error: here ended its answer/);
  expect(readFileSync(path.join(env['PROMPTRUN_DATA_DIR'] ?? '', 'models.yaml'), 'utf8')).toContain(
    'tiny',
  );
});

it('reports faults of models.yaml in lists of models and in doctor, which asks providers', async () => {
  const broken = homeWith('models:\n  - {model: tiny}\n');
  const list = await runCommandHere(['resources', 'list'], broken);

  expect(list.code).toBe(0);
  expect(list.stderr).toMatch(/models\.yaml:2: a model needs a `provider`/);

  const doctor = await runCommandHere(['doctor'], broken);
  expect(doctor.code).toBe(EXIT.usage);
  expect(doctor.stdout).toMatch(/models\tfailed\t.*models\.yaml:2: /);

  provider.reset({ body: { data: [{ id: 'tiny' }] } });
  const old = '  - {model: old, provider: here, shutdown_date: 2020-01-01}\n';
  const inPart = await runCommandHere(
    ['doctor'],
    homeWith(
      `providers: {here: {baseUrl: "${provider.baseUrl}"}}\nmodels:\n  - {model: tiny}\n${old}`,
    ),
  );

  expect(inPart.stderr).toContain('warning: old was shut down on 2020-01-01');

  const whole = await runCommandHere(['doctor'], homeWith(tinyAt(provider.baseUrl)));
  expect(whole).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/provider\tok\there at .* has 1 model/) as string,
  });

  const gone = await runCommandHere(['doctor'], homeWith(tinyAt('http://127.0.0.1:9/v1')));
  expect(gone).toMatchObject({
    code: EXIT.fault,
    stdout: expect.stringContaining('nothing listens there') as string,
  });
});

it('runs a model by its prefix with nothing but a key', async () => {
  const { home, env } = homeWith();
  provider.reset(chatAnswer('Hi Ada'));
  const withKey = { ...env, OPENAI_API_KEY: 'sk-12345678', OPENAI_BASE_URL: provider.baseUrl };
  const hello = ['run', 'hello', '-i', 'name=Ada', '-m'];
  const ran = await runCommandHere([...hello, 'openai/gpt-9'], { home, env: withKey });

  expect(ran).toMatchObject({ code: 0, stdout: 'Hi Ada\n' });
  expect(provider.body()).toMatchObject({ model: 'gpt-9' });
  expect(await runCommandHere([...hello, 'gpt-9'], { home, env: withKey })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('gpt-9 is treated as a model of openai') as string,
  });

  provider.reset({ status: 401, body: { error: { message: 'no' } } });
  expect(await runCommandHere([...hello, 'openai/gpt-9'], { home, env: withKey })).toMatchObject({
    code: EXIT.unauthorised,
    stderr: expect.stringContaining('it refuses the key in OPENAI_API_KEY') as string,
  });
});

it.each<[string, string, Record<string, string>, number, string]>([
  ['without a key', 'anthropic/claude-9', {}, EXIT.unauthorised, 'set ANTHROPIC_API_KEY'],
  [
    'of an unknown provider',
    'nobody/x',
    {},
    EXIT.usage,
    'the providers are openai, anthropic, googleai',
  ],
  ['of Vertex AI', 'vertexai/gemini-9', {}, EXIT.unauthorised, 'set GOOGLE_VERTEX_API_KEY'],
  [
    'of Azure',
    'azure/mine',
    { AZURE_API_KEY: 'k' },
    EXIT.unauthorised,
    'set AZURE_RESOURCE_NAME or AZURE_BASE_URL',
  ],
  [
    'of Bedrock',
    'bedrock/x',
    { AWS_BEARER_TOKEN_BEDROCK: 'k' },
    EXIT.unauthorised,
    'set AWS_REGION or BEDROCK_BASE_URL',
  ],
  ['at a bad OLLAMA_HOST', 'ollama/x', { OLLAMA_HOST: ':99999' }, EXIT.usage, 'OLLAMA_HOST'],
  [
    'with a key that is not a header',
    'openai/x',
    { OPENAI_API_KEY: 'a\nb' },
    EXIT.usage,
    'the key in OPENAI_API_KEY',
  ],
  [
    'in the clear',
    'xai/x',
    { XAI_API_KEY: 'k', XAI_BASE_URL: 'http://x.example' },
    EXIT.usage,
    'in the clear to x.example',
  ],
])('refuses a model %s before anything is sent', async (_, model, more, code, message) => {
  const { home, env } = homeWith();
  const refused = await runCommandHere(['run', 'hello', '-i', 'name=Ada', '-m', model], {
    home,
    env: { ...env, ...more },
  });
  expect(refused).toMatchObject({
    code,
    stdout: '',
    stderr: expect.stringContaining(message) as string,
  });
  expect(refused.stderr).not.toContain('What it takes');
});

it('lists the providers without their keys', async () => {
  const { home, env } = homeWith();
  const keys = { ...env, GOOGLE_API_KEY: 'secret-key' };
  const { code, stdout } = await runCommandHere(['models', 'providers'], { home, env: keys });

  expect(code).toBe(0);
  expect(stdout).toMatch(/^openai\thttps:\/\/api\.openai\.com\/v1\tOPENAI_API_KEY\tnot set$/m);
  expect(stdout).toMatch(
    /^googleai\t.*\tGEMINI_API_KEY or GOOGLE_API_KEY\tset \(GOOGLE_API_KEY\)$/m,
  );
  expect(stdout).toMatch(/^vllm\thttp:\/\/127\.0\.0\.1:8000\/v1\t\tnot needed$/m);
  expect(stdout).not.toContain('secret-key');
});

it('serve does not start with a faulty models.yaml', async () => {
  const { home, env } = homeWith('models:\n  - {model: tiny}\n');
  const { code, stderr } = await runCommandHere(['serve', '--port', '0'], { home, env });
  expect(code).toBe(EXIT.usage);
  expect(stderr).toMatch(/models\.yaml:2: a model needs a/);
});
