import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../../support/context.ts';
import { png } from '../../../support/png.ts';
import {
  failure,
  startScriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import { isPosix } from '../../../support/system.ts';
import { PROMPT, runAgainst, VERSION } from './run-against-service.ts';

const IMAGE_URL = `data:image/png;base64,${png(1, 1).toString('base64')}`;
const DRY_RUN = [
  'run',
  VERSION,
  '--image',
  IMAGE_URL,
  '-o',
  'quality=high',
  '--no-validate',
  '--dry-run',
];

const buildBody = (name: string): object => ({
  promptVersionId: VERSION,
  inputs: {
    textInputs: { name },
    imageInputs: [{ type: 'base64', base64: png(1, 1).toString('base64') }],
  },
  runOptions: { quality: 'high' },
});

/** Returns the arguments and the input that a shell would give to curl for the printed command. */
function runPastedCommand(command: string): { args: string[]; stdin: string } {
  const curl = `curl() { printf '%s\\0' "$@"; printf '\\0'; cat; }`;
  const script = `${curl}\n${command}`;
  const out = execFileSync('sh', ['-c', script], {
    env: { PATH: process.env['PATH'], PROMPTRUN_API_KEY: 'k"ey' },
  });
  const [args = '', stdin = ''] = out.toString().split('\0\0');
  return { args: args.split('\0'), stdin };
}

describe('--dry-run', () => {
  it.runIf(isPosix)(
    'prints the body, and on standard error a curl command that sends it, but sends nothing',
    async () => {
      const service = await startScriptedServiceForTest();
      const { exitCode, stdout, stderr } = await runAgainst(service, [
        ...DRY_RUN,
        '-i',
        'name=Ada',
      ]);

      expect(exitCode).toBe(0);
      expect(stdout()).toBe(`${JSON.stringify(buildBody('Ada'))}\n`);
      expect(stderr()).not.toContain('key-of-the-tests');

      const { args, stdin } = runPastedCommand(stderr());
      expect(args).toContain(`${service.baseUrl}/runs`);
      expect(args).toContain('Authorization: Bearer k"ey');
      expect(JSON.parse(stdin)).toEqual(buildBody('Ada'));
    },
  );

  it.runIf(isPosix)(
    'prints a curl command that can be pasted, whatever the inputs contain',
    async () => {
      const home = createTemporaryDirectory();
      const service = await startScriptedServiceForTest();
      const part = fc.constantFrom(
        'END_OF_BODY',
        '\n',
        '_',
        "'",
        '$(id)',
        '`',
        '\\',
        '"',
        'ü\u2028',
      );
      await fc.assert(
        fc.asyncProperty(fc.array(part, { maxLength: 8 }), async parts => {
          const { stderr } = await runAgainst(
            service,
            [...DRY_RUN, '-i', `name=${parts.join('')}`],
            {
              home,
            },
          );
          expect(JSON.parse(runPastedCommand(stderr()).stdin)).toEqual(buildBody(parts.join('')));
        }),
        { numRuns: 20 },
      );
    },
  );

  it('prints exactly the body with --json', async () => {
    const { stdout, stderr } = await runAgainst(await startScriptedServiceForTest(), [
      ...DRY_RUN,
      '-i',
      'name=Ada',
      '--json',
      '-q',
    ]);
    expect(stdout()).toBe(`${JSON.stringify(buildBody('Ada'))}\n`);
    expect(stderr()).toBe('');
  });

  it('checks the inputs of a version, and sends only GETs for its config', async () => {
    const lookUp = { path: `/prompt-versions/${VERSION}`, method: 'GET' };
    const config = { textInputs: { name: { type: 'string', required: true } }, imageInputs: [] };
    const version = {
      promptVersionId: VERSION,
      promptId: PROMPT,
      title: 'Hello',
      publishedAt: '',
      config,
    };
    const missing = await runAgainst(
      await startScriptedServiceForTest({ expect: lookUp, answer: success(version) }),
      ['run', VERSION, '--dry-run'],
    );

    expect(missing.stdout()).toBe('');
    expect(missing.exitCode).toBe(EXIT.usage);
    expect(missing.stderr()).toContain('missing input: name');

    const asPrompt = await startScriptedServiceForTest(
      {
        expect: { path: `/prompt-versions/${PROMPT}` },
        answer: failure(404, 'NOT_FOUND_ERROR', 'no'),
      },
      { expect: { path: `/prompts/${PROMPT}` }, answer: success(version) },
    );

    const { exitCode, stdout } = await runAgainst(asPrompt, [
      'run',
      PROMPT,
      '-i',
      'name=Ada',
      '--dry-run',
    ]);
    expect([exitCode, JSON.parse(stdout())]).toMatchObject([0, { promptVersionId: VERSION }]);
  });

  it('prints the request even if the service does not answer', async () => {
    const service = await startScriptedServiceForTest();
    await service.close();
    const { exitCode, stdout, stderr } = await runAgainst(service, [
      'run',
      VERSION,
      '-i',
      'a=b',
      '--dry-run',
    ]);

    expect([exitCode, JSON.parse(stdout())]).toMatchObject([
      0,
      { inputs: { textInputs: { a: 'b' } } },
    ]);
    expect(stderr()).toContain('# note: the inputs were not checked');
  });

  it.runIf(isPosix)('shows the names of images on a terminal', async () => {
    const argv = [...DRY_RUN, '-i', 'name=Ada'];
    const terminal = { stdout: true };
    const { stdout, stderr } = await runAgainst(await startScriptedServiceForTest(), argv, {
      terminal,
    });

    expect(stdout()).toContain(`"base64": "<${png(1, 1).length} bytes of the data URL>"`);

    const json = await runAgainst(await startScriptedServiceForTest(), [...argv, '--json'], {
      terminal,
    });
    expect(json.stdout()).toBe(stdout());
    expect(JSON.parse(runPastedCommand(stderr()).stdin)).toEqual(buildBody('Ada'));
  });

  it.runIf(isPosix)(
    'lets curl read images from their files if standard error is a terminal',
    async () => {
      const home = createTemporaryDirectory();
      const file = path.join(home, "it's $(a) cat.png");
      writeFileSync(file, png(200, 200));
      const name = '`$HOME` "\\\n';
      const argv = [
        'run',
        VERSION,
        '-i',
        `name=${name}`,
        '--image',
        file,
        '--image',
        IMAGE_URL,
        '--dry-run',
      ];

      const options = { home, terminal: { stderr: true } };
      const { stderr } = await runAgainst(
        await startScriptedServiceForTest(),
        [...argv, '--no-validate'],
        options,
      );

      expect(stderr().length).toBeLessThan(1000);

      const pictures = [png(200, 200), png(1, 1)].map(bytes => bytes.toString('base64'));
      expect(JSON.parse(runPastedCommand(stderr()).stdin)).toEqual({
        promptVersionId: VERSION,
        inputs: {
          textInputs: { name },
          imageInputs: pictures.map(base64 => ({ type: 'base64', base64 })),
        },
      });
    },
  );

  it.runIf(isPosix)(
    'writes its notes as comments, so that standard error is a script',
    async () => {
      const home = createTemporaryDirectory();
      writeFileSync(path.join(home, 'bare.prompt'), 'Tea.\n');
      const { stderr } = await runInProcess(['run', 'bare.prompt', '--dry-run'], {
        home,
        local: localService,
      });
      const [notes] = stderr().split('curl -sS');

      expect(notes).toContain('# note: no model named');

      for (const line of notes?.trimEnd().split('\n') ?? []) expect(line).toMatch(/^# /);
    },
  );

  it.each([
    { name: 'run', argv: ['run', 'count.prompt', '-i', 'n=many'], place: '' },
    { name: 'test', argv: ['test', 'count.test.yaml'], place: 'count.test.yaml:3: ' },
    {
      name: 'compare',
      argv: ['compare', 'count.prompt', 'count.prompt', '-i', 'n=many'],
      place: 'row 1 (count.prompt): ',
    },
  ])(
    'refuses with $name an input that the embedded service would refuse',
    async ({ argv, place }) => {
      const home = createTemporaryDirectory();
      const prompt = '---\nmodel: echo\ninput: {schema: {n: integer}}\n---\n{{n}}\n';
      writeFileSync(path.join(home, 'count.prompt'), prompt);
      writeFileSync(
        path.join(home, 'count.test.yaml'),
        'target: count.prompt\ncases:\n  - inputs: {n: many}\n',
      );
      const options = { home, local: localService };
      const { exitCode, stdout, stderr } = await runInProcess([...argv, '--dry-run'], options);

      expect(stdout()).toBe('');
      expect(exitCode).toBe(EXIT.usage);
      expect(stderr()).toContain(`error: ${place}the input n must be a whole number`);
    },
  );
});
