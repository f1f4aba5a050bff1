import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Project } from '../../../support/project.ts';

/** Returns how often each case ran. */
async function countRepetitions(text: string): Promise<number[]> {
  const config = `prompts: ['{{a}}']\nproviders: [echo]\n${text}`;
  const { stdout } = await new Project({ 'promptfooconfig.yaml': config }).run(['test', '--json']);
  const { cases } = JSON.parse(stdout()) as {
    readonly cases: readonly { readonly repetitions: object[] }[];
  };
  return cases.map(({ repetitions }) => repetitions.length);
}

it('tests of promptfoo are repeated by their own options, else its command line, else evaluateOptions', async () => {
  const tests = 'tests: [{ vars: { a: b } }, { vars: { a: c }, options: { repeat: 1 } }]\n';
  expect(await countRepetitions(`${tests}evaluateOptions: { repeat: 2 }\n`)).toEqual([2, 1]);
  const both =
    'evaluateOptions: { repeat: 2 }\ncommandLineOptions: { repeat: "3", verbose: true }\n';
  expect(await countRepetitions(`${tests}${both}`)).toEqual([3, 1]);
});

it('settings of promptfoo that leave out tests are refused', async () => {
  const config = 'prompts: [a]\nproviders: [echo]\nevaluateOptions: { filterRange: "0:1" }\n';
  const { exitCode, stderr } = await new Project({ 'promptfooconfig.yaml': config }).run(['test']);
  expect(stderr()).toContain(':3: `filterRange` has no equivalent');
  expect(exitCode).toBe(EXIT.usage);
});

it('maxConcurrency limits how many cases run at a time, unless --concurrency is set', async () => {
  let openCount = 0;
  let maxOpenCount = 0;
  const server = createServer((request, response) => {
    openCount += 1;
    maxOpenCount = Math.max(maxOpenCount, openCount);
    request.resume().on('end', () => {
      setTimeout(() => {
        openCount -= 1;
        response.end('"yes"');
      }, 50);
    });
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const config = `prompts: ['{{a}}']
providers: [{ id: 'http://127.0.0.1:${port}/', config: { method: POST, body: { a: '{{prompt}}' } } }]
evaluateOptions: { maxConcurrency: 1 }
tests: [{ vars: { a: 1 } }, { vars: { a: 2 } }, { vars: { a: 3 } }]
`;

  const measureConcurrency = async (...flags: string[]): Promise<number> => {
    maxOpenCount = 0;
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { exitCode } = await project.run(['test', '--allow-commands', '--rate', '0', ...flags]);
    expect(exitCode).toBe(0);
    return maxOpenCount;
  };

  expect(await measureConcurrency()).toBe(1);
  expect(await measureConcurrency('--concurrency', '3')).toBeGreaterThan(1);
});
