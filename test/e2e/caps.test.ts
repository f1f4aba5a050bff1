import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { type CommandOutcome, startCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { chatAnswer, FakeProvider } from '../support/providers/fake-provider.ts';
import { startServiceForTest } from '../support/service-for-test.ts';

/** In hundred-millionths of a dollar: what a token costs by models.yaml. */
const [INPUT, OUTPUT] = [200, 800];

/** The dearest answer, and what is expected before the first: 10 tokens in, 100 out. */
const DEAREST = 10 * INPUT + 100 * OUTPUT;

/**
 * A provider that answers late, refuses, breaks down and charges by its own ledger; the same every
 * time.
 */
class ChargingProvider {
  readonly charges: number[] = [];
  #seed: number;
  #wanted = Number.POSITIVE_INFINITY;
  #reached = (): void => {};

  constructor(seed: number) {
    this.#seed = seed;
  }

  get sum(): number {
    return this.charges.reduce((sum, charge) => sum + charge, 0);
  }

  /** Resolves once it has charged so often. */
  async waitForCharges(times: number): Promise<void> {
    this.#wanted = times;
    if (this.charges.length < times) await new Promise<void>(resolve => (this.#reached = resolve));
  }

  readonly handler = (response: ServerResponse): void => {
    const chance = this.#nextChance();
    if (chance < 0.05) return void response.writeHead(429, { 'retry-after': '0' }).end('{}');
    if (chance < 0.1) return void response.writeHead(400).end('{"error":{"message":"no"}}');

    const output = 10 * Math.ceil(this.#nextChance() * 10);
    if (this.charges.push(10 * INPUT + output * OUTPUT) >= this.#wanted) this.#reached();
    if (chance < 0.15) return void response.writeHead(500).end('{}');

    const usage = { prompt_tokens: 10, completion_tokens: output, total_tokens: 10 + output };
    const body = { ...(chatAnswer('an answer').body as object), usage };
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }, this.#nextChance() * 20);
  };

  #nextChance(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }
}

let provider: FakeProvider;
let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  provider = await FakeProvider.start();
  home = createTemporaryDirectory();
  const dataDir = path.join(home, 'the-data');
  mkdirSync(dataDir, { mode: 0o700 });
  env = { PROMPTRUN_DATA_DIR: dataDir };
  const models = `providers:
  p: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: priced, modality: text, provider: p, price: {input: 2, output: 8}}
  - {model: unpriced, modality: text, provider: p}
`;
  writeFileSync(path.join(dataDir, 'models.yaml'), models);

  for (const model of ['priced', 'unpriced']) {
    const head = `model: ${model}\nconfig: { maxOutputTokens: 100 }\ninput:\n  schema:\n    name: string`;
    writeFileSync(path.join(home, `${model}.prompt`), `---\n${head}\n---\nName: {{name}}`);
  }
});

afterEach(() => provider.close());

/**
 * Kills the command each time so many more runs were charged for, resumes it, and finally lets it
 * end.
 */
async function killAndResume(
  args: readonly string[],
  ledger: ChargingProvider,
  kills: readonly number[],
): Promise<CommandOutcome> {
  for (const [index, charged] of kills.entries()) {
    const running = startCommand([...args, ...(index === 0 ? [] : ['--resume'])], { env, home });
    await ledger.waitForCharges(charged);
    running.child.kill('SIGKILL');
    await running.ended;
  }
  return runCommandHere([...args, '--resume'], { env, home });
}

describe('a cap on what a command costs', () => {
  it.each([
    [1, 0.04],
    [16, 0.06],
  ])(
    'holds through kills and resumes, %i at a time',
    { timeout: 180_000 },
    async (concurrency, cap) => {
      const ledger = new ChargingProvider(concurrency);
      provider.reset(ledger.handler);

      // At most 130 or so reach the cap.
      const names = Array.from({ length: 400 }, (_, index) => `n${index}\n`);
      writeFileSync(path.join(home, 'rows.csv'), `name\n${names.join('')}`);
      const args = ['batch', 'priced.prompt', '--from', 'rows.csv', '--out', 'out.jsonl'];
      const capped = [...args, '--max-cost', String(cap), '--concurrency', String(concurrency)];
      const ended = await killAndResume(capped, ledger, [40, 60]);

      expect(ended).toMatchObject({
        code: EXIT.capReached,
        stderr: expect.stringContaining('--resume and --max-cost <more>'),
      });

      // The dearest had been seen before the first kill, so nothing cost more than was expected of
      // it.
      expect(Math.max(...ledger.charges.slice(0, 40 - concurrency))).toBe(DEAREST);
      expect(ledger.sum).toBeLessThanOrEqual(cap * 1e8);

      // All that is not known counts as the dearest: what was open when it was killed, and what
      // broke down.
      expect(ledger.sum).toBeGreaterThan(cap * 1e8 - (3 * concurrency + 20) * DEAREST);

      const spent = ledger.sum;
      expect((await runCommandHere([...capped, '--resume'], { env, home })).code).toBe(
        EXIT.capReached,
      );
      expect(ledger.sum).toBe(spent);
    },
  );

  it('holds for tests that are killed and resumed', { timeout: 180_000 }, async () => {
    const ledger = new ChargingProvider(7);
    provider.reset(ledger.handler);
    writeFileSync(
      path.join(home, 'priced.test.yaml'),
      'cases:\n  - { inputs: { name: Ada }, repeat: 400, pass: 1 }\n',
    );
    const args = ['test', '--max-cost', '0.04', '--concurrency', '8'];
    const ended = await killAndResume(args, ledger, [15, 30]);

    expect(ended).toMatchObject({
      code: EXIT.capReached,
      stderr: expect.stringContaining('--resume and --max-cost <more>'),
    });
    expect(ledger.sum).toBeLessThanOrEqual(0.04 * 1e8);
    expect(ledger.charges.length).toBeGreaterThan(30);
  });

  it('counts what judging cost before a kill, and judgements that it cut off', {
    timeout: 180_000,
  }, async () => {
    const ledger = new ChargingProvider(3);
    provider.reset(ledger.handler);
    const rubrics =
      'cases:\n  - { inputs: { name: Ada }, repeat: 400, pass: 1, expect: [{ rubric: is polite }] }\n';
    writeFileSync(path.join(home, 'hello.test.yaml'), `target: hello\n${rubrics}`);
    const args = ['test', 'hello.test.yaml', '--judge', 'priced', '--max-cost', '0.06'];

    // Whatever a kill cuts off counts as the dearest, so that few are left for the last start.
    const ended = await killAndResume(args, ledger, [15, 30]);
    expect(ended.code).toBe(EXIT.capReached);
    expect(ledger.sum).toBeLessThanOrEqual(0.06 * 1e8);
    expect(ledger.charges.length).toBeGreaterThan(30);
  });

  describe('judges of a test that is resumed', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 500, total_tokens: 510 };
    const yes = { body: { ...(chatAnswer('yes, it is').body as object), usage } };
    const test = ['test', 'judged.test.yaml', '--judge', 'priced'];

    beforeEach(() => {
      const names = ['Ada', 'Bob', 'Eve'].map(
        name => `  - { inputs: { name: ${name} }, expect: [{ rubric: is kind }] }\n`,
      );
      writeFileSync(
        path.join(home, 'judged.test.yaml'),
        `target: hello\ncases:\n${names.join('')}`,
      );
    });

    it('are paid once, however often the cap stopped the test', async () => {
      provider.reset(yes);
      const options = { env, home };

      // Each costs $0.004; the first is expected to cost more than twice that.
      expect((await runCommandHere([...test, '--max-cost', '0.009'], options)).code).toBe(
        EXIT.capReached,
      );
      expect(provider.requests).toHaveLength(2);
      expect(
        (await runCommandHere([...test, '--resume', '--max-cost', '0.0115'], options)).code,
      ).toBe(EXIT.capReached);
      expect(provider.requests).toHaveLength(2);

      const ended = await runCommandHere([...test, '--resume', '--max-cost', '0.02'], options);
      expect(ended).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('1 passed now, 2 before'),
      });
      expect((await runCommandHere([...test, '--resume'], options)).code).toBe(0);
      expect(provider.requests).toHaveLength(3);
    });

    it('are not asked again unasked after a kill in the middle', async () => {
      provider.reset(() => {});
      const options = { env, home };
      const one = '  - { inputs: { name: Ada }, expect: [{ rubric: is kind }] }\n';
      writeFileSync(path.join(home, 'judged.test.yaml'), `target: hello\ncases:\n${one}`);
      const running = startCommand([...test, '--concurrency', '1'], options);

      await expect.poll(() => provider.requests.length).toBe(1);

      running.child.kill('SIGKILL');
      await running.ended;
      provider.reset(yes);
      const left = await runCommandHere([...test, '--resume'], options);

      expect(left).toMatchObject({
        code: EXIT.fault,
        stdout: expect.stringMatching(
          /^ERROR .*\n +the judge's run failed: stopped by .* paid for \(.*\n.*--resume --retry-unknown\.$/mu,
        ),
      });

      expect(provider.requests).toHaveLength(0);

      const again = [...test, '--resume', '--retry-unknown', '--record', 'rec'];
      expect(await runCommandHere(again, options)).toMatchObject({ code: 0 });
      expect(provider.requests).toHaveLength(1);

      // The answer that counted was recorded, not the one that was cut off.
      expect(await runCommandHere([...test, '--replay', 'rec'], options)).toMatchObject({
        code: 0,
      });
    });
  });

  it('counts credits of another service, runs of killed starts among them', async () => {
    const service = await startServiceForTest();
    const names = Array.from({ length: 100 }, (_, index) => `n${index}\n`);
    writeFileSync(path.join(home, 'rows.csv'), `name\n${names.join('')}`);
    const args = ['batch', 'hello', '--from', 'rows.csv', '--out', 'out.jsonl', '--rate', '0'];
    const capped = [...args, '--max-credits', '40', '--with-inputs'];
    const options = { env: service.env, home };
    const running = startCommand(capped, options);
    while ((await service.runs()).length < 15);
    running.child.kill('SIGKILL');
    await running.ended;
    const ended = await runCommandHere([...capped, '--resume', '--json'], options);

    expect(ended.code).toBe(EXIT.capReached);
    expect(await service.runs()).toHaveLength(40);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      succeeded: 40,
      totals: { runs: 40, credits: 40 },
    });
  });

  describe('an option that may multiply the cost of a run', () => {
    const runWithOption = async (option: string, ...flags: string[]) => {
      provider.reset(chatAnswer('Hi'));
      const head = `model: priced\nconfig: { maxOutputTokens: 100, ${option} }`;
      writeFileSync(path.join(home, 'many.prompt'), `---\n${head}\n---\nHi`);
      return await runCommandHere(['run', 'many.prompt', ...flags], { env, home });
    };
    const runUnderCap = (option: string) => runWithOption(option, '--max-cost', '0.005');

    it.each(['n: 128', "n: '128'"])('counts if it asks for many answers: %s', async option => {
      expect((await runUnderCap(option)).code).toBe(EXIT.capReached);
      expect(provider.requests).toHaveLength(0);
    });

    it.each([
      ['n', 'n: 2.5'],
      ['best_of', 'best_of: 4'],
      ['bestOf', 'bestOf: 4'],
      ['nBest', 'nBest: 4'],
      ['n_anything', 'n_anything: 4'],
    ])('is refused if nobody knows how much: %s', async (name, option) => {
      const { code, stderr } = await runUnderCap(option);
      expect(stderr).toContain(`the option ${name} multiplies`);
      expect(code).toBe(EXIT.usage);
      expect(provider.requests).toHaveLength(0);
    });

    it.each(['best_of: 1', 'n_predict: 50', 'nProbs: 5', 'n: 2'])(
      'is taken if it does not, or within the cap: %s',
      async option => {
        expect((await runUnderCap(option)).code).toBe(0);
        expect(provider.requests).toHaveLength(1);
      },
    );

    it.each(['n: 128', 'best_of: 4', 'n: 2'])('is accepted without a cap: %s', async option => {
      expect((await runWithOption(option, '--dry-run')).code).toBe(0);
    });
  });

  it('takes the dearest run by the answer', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };
    provider.reset({ body: { ...(chatAnswer('Hi').body as object), usage } });

    for (const [name, answers] of [
      ['one', 1],
      ['nine', 9],
    ] as const) {
      const head = `model: priced\nconfig: { maxOutputTokens: 10, n: ${answers} }\ninput:\n  schema:\n    name: string`;
      writeFileSync(path.join(home, `${name}.prompt`), `---\n${head}\n---\nName: {{name}}`);
    }

    // One run of one answer costs 82,000; nine answers are expected to cost nine times as much, not
    // the 72,400 of a guess.
    writeFileSync(path.join(home, 'one.csv'), 'name\nAda\n');
    const targets = ['compare', './one.prompt', './nine.prompt', '--from', 'one.csv'];
    const args = [...targets, '--concurrency', '1', '--max-cost'];

    expect(await runCommandHere([...args, '0.005'], { env, home })).toMatchObject({
      code: EXIT.capReached,
    });
    expect(provider.requests).toHaveLength(1);
    expect(await runCommandHere([...args, '0.009'], { env, home })).toMatchObject({ code: 0 });

    // The other way round, one answer is expected to cost a ninth of the 82,000.
    const [compare = '', one = '', nine = '', ...more] = args;
    expect(
      await runCommandHere([compare, nine, one, ...more, '0.001'], { env, home }),
    ).toMatchObject({
      code: 0,
    });
  });

  it('refuses a model without a price before anything is sent, whichever case or side it is of', async () => {
    writeFileSync(path.join(home, 'rows.csv'), 'name\nAda\n');
    writeFileSync(
      path.join(home, 'priced.test.yaml'),
      'models: [priced, unpriced]\ncases:\n  - { inputs: { name: Ada } }\n',
    );
    const commands = [
      ['test'],
      ['test', '-m', 'priced', '--judge', 'unpriced', 'judged.test.yaml'],
      ['compare', 'priced.prompt', 'unpriced.prompt', '--from', 'rows.csv'],
      ['batch', 'unpriced.prompt', '--from', 'rows.csv', '--out', 'out.jsonl'],
      ['batch', 'unpriced.prompt', '--from', '-', '--format', 'csv', '--out', 'out.jsonl'],
    ];

    writeFileSync(
      path.join(home, 'judged.test.yaml'),
      'target: priced.prompt\ncases:\n  - { inputs: { name: Ada }, expect: [{ rubric: is polite }] }\n',
    );

    for (const command of commands) {
      const args = [...command, '--max-cost', '1'];
      const { code, stderr } = await runCommandHere(args, { env, home, stdin: 'name\nAda\n' });
      expect(stderr, command.join(' ')).toContain('price');
      expect(code, command.join(' ')).toBe(EXIT.usage);
    }

    expect(provider.requests).toEqual([]);

    // The corrected command needs the name of the results.
    expect(readdirSync(home).filter(name => name.startsWith('out.jsonl'))).toEqual([]);
  });

  it('keeps what was spent on a row before it was run again', async () => {
    const ledger = new ChargingProvider(1);
    let fails = true;
    provider.reset(response => {
      if (!fails) return ledger.handler(response);

      const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };
      const choices = [
        { index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'cut' } },
      ];
      ledger.charges.push(DEAREST);
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices, usage }));
    });

    writeFileSync(path.join(home, 'rows.csv'), 'name\nAda\nBob\n');
    const args = ['batch', 'priced.prompt', '--from', 'rows.csv', '--out', 'out.jsonl'];

    expect((await runCommandHere(args, { env, home })).code).toBe(EXIT.runFailed);

    const again = [...args, '--resume', '--retry-failed', '--max-cost'];

    // Both rows have ended, so the journal is gone: what they cost stands in the results.
    expect((await runCommandHere([...again, '0.0020'], { env, home })).code).toBe(EXIT.capReached);
    expect(ledger.charges).toHaveLength(2);
    expect((await runCommandHere([...again, '1'], { env, home })).code).toBe(EXIT.runFailed);

    fails = false;
    await runCommandHere([...again, '1'], { env, home });
    const lines = readFileSync(path.join(home, 'out.jsonl'), 'utf8').trim().split('\n');

    expect(
      lines.map(line => (JSON.parse(line) as { earlierRunIds: string[] }).earlierRunIds.length),
    ).toEqual([2, 2]);

    const report = await runCommandHere(['batch', 'report', 'out.jsonl', '--json'], { env, home });
    expect(JSON.parse(report.stdout)).toMatchObject({ runs: 6, cost: ledger.sum / 1e8 });
  });
});
