import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { OutputItem } from '../../../../src/wire/index.ts';
import { startScriptedServiceForTest } from '../../../support/scripted-service.ts';
import { RUN, runAgainst, succeededRun, textOutput } from './run-against-service.ts';
import { RUN_IT, startServiceWithOutputs } from './service-with-outputs.ts';

describe('outputs on standard output', () => {
  it.each([
    ['Hello', 'Hello\n'],
    ['Hello\n', 'Hello\n'],
    ['', '\n'],
    ['a\r\n\u001b[31mred\u0007\u0000 ü', 'a\r\n\u001b[31mred\u0007\u0000 ü\n'],
  ])('prints the text %j unchanged to a pipe, with a newline at its end', async (data, printed) => {
    const { stdoutBytes } = await runAgainst(
      await startServiceWithOutputs([textOutput(data)]),
      RUN_IT,
    );
    expect(stdoutBytes()).toEqual(Buffer.from(printed));
  });

  it.each([
    [null, 'null\n'],
    [7, '7\n'],
    [{ a: [true] }, '{"a":[true]}\n'],
  ])('prints data that is not text as JSON: %j', async (data, printed) => {
    const { exitCode, stdout } = await runAgainst(
      await startServiceWithOutputs([textOutput(data as unknown as string)]),
      RUN_IT,
    );
    expect(stdout()).toBe(printed);
    expect(exitCode).toBe(0);
  });

  it('escapes control characters of a text on a terminal', async () => {
    const service = await startServiceWithOutputs([
      textOutput('tab\there\n\u001b]0;x\u0007\u009b31m\u202e'),
    ]);
    const { stdout } = await runAgainst(service, RUN_IT, { terminal: { stdout: true } });
    expect(stdout()).toBe('tab\there\n^[]0;x^G\\u009b31m\\u202e\n');
  });

  it('prints outputs in order, with errors on standard error', async () => {
    const service = await startServiceWithOutputs([
      textOutput('one'),
      { type: 'image', data: 'https://example.com/1.png' },
      { type: 'error', data: 'step 3 failed' },
      { type: 'video', data: 'https://example.com/4.mp4' },
      { type: 'sound', data: 'https://example.com/5.ogg' },
      textOutput('six'),
    ]);
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT);

    expect(stdout()).toBe(
      'one\nhttps://example.com/1.png\nhttps://example.com/4.mp4\nhttps://example.com/5.ogg\nsix\n',
    );
    expect(stderr()).toBe('error: step 3 failed\nnote: output 5 has unknown type sound\n');
    expect(exitCode).toBe(0);
  });

  it.each([
    {
      data: 'https://example.com/a.mp4?b=1',
      target: 'https://example.com/a.mp4?b=1',
      shown: 'https://example.com/a.mp4?b=1',
    },
    {
      data: 'https://example.com/\u0007\u001b[31m',
      target: 'https://example.com/%07%1B[31m',
      shown: 'https://example.com/^G^[[31m',
    },
  ])(
    'prints a URL as a link on a terminal that supports links: $data',
    async ({ data, target, shown }) => {
      const service = await startServiceWithOutputs([{ type: 'video', data }]);
      const { stdout } = await runAgainst(service, RUN_IT, {
        terminal: { stdout: true },
        env: { TERM: 'xterm-kitty' },
      });
      expect(stdout()).toBe(`\u001b]8;;${target}\u0007${shown}\u001b]8;;\u0007\n`);
    },
  );

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'pictures/a.png'])(
    'does not make a link of %s, which a service names',
    async data => {
      const { stdout } = await runAgainst(
        await startServiceWithOutputs([{ type: 'video', data }]),
        RUN_IT,
        {
          terminal: { stdout: true },
          env: { TERM: 'xterm-kitty' },
        },
      );
      expect(stdout()).toBe(`${data}\n`);
    },
  );

  it('prints a URL on one line, whatever it contains', async () => {
    const { stdout } = await runAgainst(
      await startServiceWithOutputs([{ type: 'image', data: 'https://a/\nb' }]),
      RUN_IT,
    );
    expect(stdout()).toBe('https://a/ b\n');
  });

  it('prints the outputs of a failed run, and its errors on standard error', async () => {
    const service = await startServiceWithOutputs(
      [textOutput('half'), { type: 'error', data: 'broke' }],
      {
        runStatus: 'failed',
      },
    );
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT);
    expect({ exitCode, stdout: stdout(), stderr: stderr() }).toEqual({
      exitCode: EXIT.runFailed,
      stdout: 'half\n',
      stderr: `error: broke\nnote: run ${RUN} failed\n`,
    });
  });

  it('reports a failed run without any output', async () => {
    const { exitCode, stderr } = await runAgainst(
      await startServiceWithOutputs([], { runStatus: 'failed' }),
      RUN_IT,
    );
    expect({ exitCode, stderr: stderr() }).toEqual({
      exitCode: EXIT.runFailed,
      stderr: `error: run ${RUN} failed\n`,
    });
  });

  it('reports a failed run without a reason if its error has no text', async () => {
    const outputs = [{ type: 'error', data: null }] as unknown as OutputItem[];
    const { stderr } = await runAgainst(
      await startServiceWithOutputs(outputs, { runStatus: 'failed' }),
      RUN_IT,
    );
    expect(stderr()).toBe(`error: null (the service gave no reason)\nnote: run ${RUN} failed\n`);
  });

  it('prints the run with --json as the service sent it, with unknown fields', async () => {
    const run = succeededRun({
      outputs: [
        { type: 'text', data: '\u001bx', extra: [1] } as OutputItem,
        { type: 'error', data: 'no' },
      ],
      later: { field: null },
      ['__proto__']: 'kept',
    });
    const raw = JSON.stringify({ status: 'SUCCESS', data: run });
    const service = await startScriptedServiceForTest({
      expect: { path: '/runs' },
      answer: { body: raw },
    });
    const { stdout, stderr } = await runAgainst(service, [...RUN_IT, '--json']);

    expect(JSON.parse(stdout())).toEqual(run);
    expect(stderr()).toBe('');
  });

  it.each([
    ['outputs[0].data', 'Hello, Ada!\n'],
    ['tokens', '3\n'],
    ['nothing', 'null\n'],
  ])('filters the run with --query %s', async (query, printed) => {
    const { stdout } = await runAgainst(
      await startServiceWithOutputs([textOutput('Hello, Ada!')]),
      [...RUN_IT, '--query', query],
    );
    expect(stdout()).toBe(printed);
  });

  it('stops quietly if the reader closes the pipe after the first output', async () => {
    const service = await startServiceWithOutputs([textOutput('one'), textOutput('two')]);
    const readerTakes = Buffer.byteLength('one\n');
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { readerTakes });
    expect({ exitCode, stderr: stderr() }).toEqual({ exitCode: 0, stderr: '' });
  });
});
