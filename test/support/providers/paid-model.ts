import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/cli/core/clock.ts';
import { systemClock } from '../../../src/cli/runtime/create-context.ts';
import { type CommandOutcome, type RunningCommand, runCommand, startCommand } from '../command.ts';
import { runCommandHere, serveHere } from '../command-here.ts';
import { createTemporaryDirectory } from '../context.ts';
import { chatAnswer, FakeProvider } from './fake-provider.ts';

/** Nothing else sleeps for as long. */
const LIMIT_MS = 123_457;

const MODELS =
  'models: [{model: tiny, modality: text, provider: here, price: {input: 100, output: 100}}]\nproviders: {here: {baseUrl: "URL"}}\n';

/**
 * The built command in its own home for each test, with the model `tiny`, whose provider leaves
 * requests unanswered until the test answers them: what it was asked is what is paid for.
 */
export class PaidModel {
  home = '';
  /** Added to a bare environment. */
  env: Record<string, string> = {};
  /** The answers that the provider has not given yet. */
  open: ServerResponse[] = [];
  readonly #files: Readonly<Record<string, string>>;
  #provider: FakeProvider | undefined;

  /** @param files of the home, by their names; `ask.prompt` is one in any case */
  constructor(files: Readonly<Record<string, string>> = {}) {
    this.#files = {
      'ask.prompt':
        '---\nmodel: tiny\ninput: {schema: {who: string}}\n---\nTell a story of {{who}}',
      ...files,
    };

    beforeAll(async () => {
      this.#provider = await FakeProvider.start();
    });
    afterAll(() => this.provider.close());
    beforeEach(() => this.#begin());
  }

  get provider(): FakeProvider {
    if (this.#provider === undefined) {
      throw new Error('the provider is started before the first test');
    }
    return this.#provider;
  }

  #begin(): void {
    this.home = createTemporaryDirectory();
    const dataDir = path.join(this.home, 'the-data');
    mkdirSync(dataDir, { mode: 0o700 });
    this.write('the-data/models.yaml', MODELS.replace('URL', this.provider.baseUrl));
    for (const [name, text] of Object.entries(this.#files)) this.write(name, text);
    this.env = { PROMPTRUN_DATA_DIR: dataDir };
    this.open = [];
    this.provider.reset(response => void this.open.push(response));
  }

  write(name: string, text: string): void {
    const file = path.join(this.home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  readonly requestCount = (): number => this.provider.requests.length;

  /**
   * Runs a command to its end: in this process, which takes a fraction of the time, unless its run
   * outlives it.
   */
  async command(
    words: readonly string[],
    stdin = '',
    clock: Clock = systemClock,
  ): Promise<CommandOutcome> {
    const options = { home: this.home, env: this.env, stdin };
    return words.includes('--no-wait')
      ? runCommand(words, options)
      : runCommandHere(words, { ...options, clock });
  }

  /** Runs a command whose `--timeout` is over once the provider was asked. */
  outOfTime(words: readonly string[]): Promise<CommandOutcome> {
    const sleep: Clock['sleep'] = async (ms, signal) => {
      if (ms !== LIMIT_MS) return systemClock.sleep(ms, signal);
      while (this.requestCount() === 0) await systemClock.sleep(10, signal);
    };
    return this.command([...words, '--timeout', `${LIMIT_MS}ms`], '', { ...systemClock, sleep });
  }

  /** Starts a command, which is killed with the test. */
  start(words: readonly string[]): RunningCommand {
    const running = startCommand(words, { home: this.home, env: this.env });
    onTestFinished(async () => {
      running.child.kill('SIGKILL');
      await running.ended;
    });
    return running;
  }

  /** Starts a command and waits until it asks the provider. */
  async startAsking(words: readonly string[]): Promise<RunningCommand> {
    const running = this.start(words);
    await expect.poll(this.requestCount).toBe(1);
    return running;
  }

  /** Answers every request to the provider, former and future. */
  answerAll(text = 'Once'): void {
    this.provider.answers = [chatAnswer(text)];
    for (const response of this.open.splice(0)) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(chatAnswer(text).body));
    }
  }

  /**
   * Configures a `serve` of this home's data, on which `prompts/` is published. Returns its key.
   */
  async serve(...flags: string[]): Promise<string> {
    const all = ['--prompts', 'prompts', '--grace', '0s', ...flags];
    const { baseUrl, key } = await serveHere(all, { home: this.home, env: this.env });
    this.env = {
      PROMPTRUN_BASE_URL: baseUrl,
      PROMPTRUN_API_KEY: key,
      PROMPTRUN_DATA_DIR: path.join(this.home, 'own-data'),
    };
    return key;
  }
}
