import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { anyText } from '../../../support/any-text.ts';
import { createTemporaryDirectory, runInProcess } from '../../../support/context.ts';
import { png } from '../../../support/png.ts';
import { chatAnswer, FakeProvider } from '../../../support/providers/fake-provider.ts';
import {
  type Exchange,
  startScriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import {
  creation,
  PROMPT,
  runAgainst,
  startAgainst,
  succeededRun,
  VERSION,
} from './run-against-service.ts';

const creationBody = (inputs: object, more: object = {}): object => ({
  promptVersionId: VERSION,
  inputs,
  ...more,
});

describe('the request of run', () => {
  it('sends one request for a version id', async () => {
    const service = await startScriptedServiceForTest(
      creation(succeededRun(), creationBody({ textInputs: { name: 'Ada' } })),
    );
    const { exitCode, stdout, stderr } = await runAgainst(service, [
      'run',
      VERSION,
      '-i',
      'name=Ada',
    ]);
    expect({ exitCode, stdout: stdout(), stderr: stderr() }).toEqual({
      exitCode: 0,
      stdout: 'Hello, Ada!\n',
      stderr: '',
    });
  });

  it('sends values unchanged from the argument, a file and standard input', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest({
      expect: { path: '/runs', method: 'POST' },
      times: 'any',
      answer: call => success(succeededRun({ echo: call.body })),
    });

    const value = anyText({ minLength: 1 }).map(text => text.replaceAll('\0', ''));
    const fileText = (text: string): string =>
      text.replace(/^\uFEFF/u, '').replaceAll('\r\n', '\n');

    await fc.assert(
      fc.asyncProperty(value, value, value, async (argument, file, stdin) => {
        writeFileSync(path.join(home, 'value'), file);
        const argv = [
          'run',
          VERSION,
          '-i',
          `a=@@${argument}`,
          '-i',
          'b=@value',
          '-i',
          'c=@-',
          '--json',
        ];
        const { stdout } = await runAgainst(service, argv, { home, stdin });
        const textInputs = { a: `@${argument}`, b: fileText(file), c: stdin };

        expect(JSON.parse(stdout())).toMatchObject({ echo: creationBody({ textInputs }) });
      }),
      { numRuns: 40 },
    );
  });

  it('sends LF for the CRLF of a file, but keeps the CRLF of standard input', async () => {
    const home = createTemporaryDirectory();
    const windowsText = '\uFEFFDear Ada,\r\n\r\nyours\r\n';
    const textInputs = { a: 'Dear Ada,\n\nyours\n', b: windowsText };
    const service = await startScriptedServiceForTest(
      creation(succeededRun(), creationBody({ textInputs })),
    );
    writeFileSync(path.join(home, 'letter.txt'), windowsText);
    const argv = ['run', VERSION, '-i', `a=@${path.join(home, 'letter.txt')}`, '-i', 'b=@-'];

    expect((await runAgainst(service, argv, { home, stdin: windowsText })).exitCode).toBe(0);
  });

  it('prefers --input and --image to the values of --inputs, and adds options', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(
      path.join(home, 'in.yaml'),
      'textInputs: {a: 1.0, b: from file}\nimageInputs: [{type: url, url: "https://example.com/x.png"}]\n',
    );
    writeFileSync(path.join(home, 'photo.dat'), png(2, 2));
    const service = await startScriptedServiceForTest(
      creation(
        succeededRun(),
        creationBody(
          {
            textInputs: { a: '1.0', b: 'from flag' },
            imageInputs: [
              { type: 'base64', base64: png(2, 2).toString('base64') },
              { type: 'url', url: 'https://example.com/y.png' },
              { type: 'base64', base64: png(1, 1).toString('base64') },
            ],
          },
          { runOptions: { quality: 'high' } },
        ),
      ),
    );

    const argv = [
      'run',
      VERSION,
      '--inputs',
      'in.yaml',
      '-i',
      'b=from flag',
      '-o',
      'quality=high',
      '--no-validate',
    ];

    const dataUrl = `data:image/png;base64,${png(1, 1).toString('base64')}`;
    argv.push('--image', 'photo.dat', '--image', 'https://example.com/y.png', '--image', dataUrl);

    expect((await runAgainst(service, argv, { home })).exitCode).toBe(0);
  });

  it('reads an image from standard input', async () => {
    const stdin = png(3, 3);
    const image = { type: 'base64', base64: stdin.toString('base64') };
    const service = await startScriptedServiceForTest(
      creation(succeededRun(), creationBody({ imageInputs: [image] })),
    );
    const { exitCode } = await runAgainst(service, ['run', VERSION, '--image', '-'], { stdin });
    expect(exitCode).toBe(0);
  });

  it('reads the inputs from standard input, whatever their names', async () => {
    const stdin = '{"__proto__": 1}';
    const service = await startScriptedServiceForTest(
      creation(succeededRun(), creationBody({ textInputs: { ['__proto__']: '1' } })),
    );
    const { exitCode } = await runAgainst(service, ['run', VERSION, '--inputs', '-'], { stdin });
    expect(exitCode).toBe(0);
  });
});

describe('a target', () => {
  it('may be an alias of a version', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(creation(succeededRun(), creationBody({})));
    await runAgainst(service, ['alias', 'set', 'greet', VERSION], { home });
    expect((await runAgainst(service, ['run', 'greet'], { home })).exitCode).toBe(0);
  });
});

describe('standard input', () => {
  it('that never ends can be interrupted with Ctrl-C', async () => {
    const service = await startScriptedServiceForTest();
    const stdin = new Readable({ read: () => setImmediate(() => running.raise('SIGINT')) });
    const running = startAgainst(service, ['run', VERSION, '-i', 'a=@-'], { stdin });
    expect(await running.ended).toBe(EXIT.interrupted);
    expect(running.stderr()).toBe('error: interrupted (INTERRUPTED)\n');
  });
});

const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

describe('what `run` refuses before anything is sent', () => {
  const createUnusableFiles = (): string => {
    const directory = createTemporaryDirectory();
    writeFileSync(path.join(directory, 'empty.png'), '');
    writeFileSync(path.join(directory, 'text.png'), 'no image at all');
    writeFileSync(path.join(directory, 'large.png'), png(1, 1));
    truncateSync(path.join(directory, 'large.png'), MAX_IMAGE_BYTES + 1);
    writeFileSync(path.join(directory, 'latin1.txt'), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    writeFileSync(path.join(directory, 'utf16.txt'), Buffer.from('\uFEFFtea', 'utf16le'));
    writeFileSync(path.join(directory, 'null.json'), '{"topic": null}');

    return directory;
  };

  it.each([
    [['-i', 'name'], '--input needs key=value'],
    [['-i', '@in.json'], 'To read all inputs from a file: --inputs <file>'],
    [['-i', 'a=@missing.txt'], '--input a: missing.txt does not exist'],
    [['-i', 'a=@.'], '--input a: . is a directory'],
    [
      ['-i', 'a=@latin1.txt'],
      '--input a: latin1.txt is not valid UTF-8 text; save it as UTF-8 (USAGE_ERROR)\nInputs are text.',
    ],
    [
      ['-i', 'a=@utf16.txt'],
      '--input a: utf16.txt is UTF-16 text, as Windows PowerShell 5 writes it',
    ],
    [['-i', 'a=@'], '--input a names no file'],
    [['--inputs', 'missing.json'], '--inputs: missing.json does not exist'],
    [['--inputs', 'null.json'], '--inputs null.json: the value of "topic" is null'],
    [['--image', 'http://example.com/a.png'], 'is not an https URL'],
    [['--image', 'ftp://example.com/a.png'], 'is not an https URL'],
    [['--image', 'missing.png'], 'missing.png does not exist'],
    [['--image', 'empty.png'], 'empty.png is empty'],
    [['--image', 'text.png'], 'text.png is not an image'],
    [['--image', 'large.png'], 'large.png is 20.0 MiB'],
    [['--image', 'data:image/png;base64,#'], 'does not contain valid base64'],
    [['--image', 'data:image/png;base64,aGVsbG8='], 'the data URL is not an image'],
    [['-o', 'quality'], '--option needs key=value'],
    [
      ['--inputs', '-', '-i', 'a=@-'],
      'standard input can be read only once, not by --inputs - and --input a=@-',
    ],
    [['--image', '-', '--image', '-'], 'standard input can be read only once'],
    [['--query', '[?'], '--query'],
  ])('%j', async (args, message) => {
    const service = await startScriptedServiceForTest();
    const { exitCode, stdout, stderr } = await runAgainst(service, ['run', VERSION, ...args], {
      home: createUnusableFiles(),
    });
    expect(stderr()).toContain(message);
    expect({ exitCode, stdout: stdout(), calls: service.calls.length }).toEqual({
      exitCode: EXIT.usage,
      stdout: '',
      calls: 0,
    });
  });

  it('refuses a run without a target off a terminal', async () => {
    const service = await startScriptedServiceForTest();
    const { exitCode, stderr } = await runAgainst(service, ['run', '-i', 'a=b']);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toMatch(/^error: the target is missing/);
  });
});

describe('run options', () => {
  const modelsWithOptions = (...options: { key: string; options: string[] }[]) => ({
    expect: { path: '/resources' },
    answer: success({
      hash: `h${options.length}`,
      resources: { models: [{ model: 'm', modality: 'text', availableRunOptions: options }] },
    }),
  });

  const qualityOption = { key: 'quality', options: ['low', 'high'] };

  it('checks run options against the models, which it fetches once for two runs', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      modelsWithOptions(qualityOption),
      creation(),
      creation(),
    );
    const argv = ['run', VERSION, '-o', 'quality=high'];
    expect((await runAgainst(service, argv, { home })).exitCode).toBe(0);
    expect((await runAgainst(service, argv, { home })).exitCode).toBe(0);
  });

  it('fetches the models once more before it refuses an option that none lists', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      modelsWithOptions(qualityOption),
      creation(),
      modelsWithOptions(qualityOption, { key: 'size', options: ['s'] }),
      creation(),
    );
    await runAgainst(service, ['run', VERSION, '-o', 'quality=high'], { home });
    expect((await runAgainst(service, ['run', VERSION, '-o', 'size=s'], { home })).exitCode).toBe(
      0,
    );
  });

  it('lists the accepted values in the JSON form of the error, too', async () => {
    const { stderr } = await runAgainst(
      await startScriptedServiceForTest(modelsWithOptions(qualityOption)),
      ['run', VERSION, '-o', 'quality=x', '--json'],
    );
    expect(JSON.parse(stderr())).toMatchObject({
      exitCode: EXIT.usage,
      data: { accepted: ['low', 'high'] },
    });
  });

  it.each([
    {
      option: 'qualty=high',
      problem: '"qualty"; did you mean quality?',
      accepted: 'Accepted keys: quality',
    },
    {
      option: 'quality=hihg',
      problem: '"hihg" for the run option quality; did you mean high?',
      accepted: 'Accepted values: low, high',
    },
    { option: '__proto__=x', problem: '"__proto__"', accepted: 'Accepted keys: quality' },
  ])('refuses $option, and lists what is accepted', async ({ option, problem, accepted }) => {
    const service = await startScriptedServiceForTest(modelsWithOptions(qualityOption));
    const { exitCode, stderr } = await runAgainst(service, ['run', VERSION, '-o', option]);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain(problem);
    expect(stderr()).toContain(accepted);
  });
});

describe('checks of inputs against the config', () => {
  const version = {
    promptVersionId: VERSION,
    promptId: PROMPT,
    title: 'Hello',
    publishedAt: '2026-01-01T00:00:00.000Z',
    config: {
      textInputs: {
        name: { type: 'string', required: true },
        tone: { type: 'string', required: true },
      },
      imageInputs: [],
    },
  };

  const search: Exchange = {
    expect: { path: '/prompts/publish' },
    answer: success({ rows: [{ ...version, slug: 'greet', configs: version.config }] }),
  };

  it('does not check the inputs of a version off a terminal, even if its config is cached', async () => {
    const home = createTemporaryDirectory();
    const read = { expect: { path: `/prompt-versions/${VERSION}` }, answer: success(version) };
    const service = await startScriptedServiceForTest(creation(), read, creation());

    expect((await runAgainst(service, ['run', VERSION, '-i', 'nmae=x'], { home })).exitCode).toBe(
      0,
    );

    await runAgainst(service, ['versions', 'get', VERSION], { home });
    expect((await runAgainst(service, ['run', VERSION, '-i', 'nmae=x'], { home })).exitCode).toBe(
      0,
    );
  });

  it('names the missing inputs of a slug, whose look-up returns the config', async () => {
    const service = await startScriptedServiceForTest(search);
    const { exitCode, stderr } = await runAgainst(service, ['run', 'greet']);
    expect(stderr()).toMatch(/^error: missing inputs: name, tone \(USAGE_ERROR\)\n/);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('names the input that was probably meant', async () => {
    const service = await startScriptedServiceForTest(search);
    const { exitCode, stderr } = await runAgainst(service, ['run', 'greet', '-i', 'nmae=x']);
    expect(stderr()).toContain('did you mean name?');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('does not check the inputs of a slug with --no-validate', async () => {
    const service = await startScriptedServiceForTest(search, creation());
    const argv = ['run', 'greet', '-i', 'nmae=x', '--no-validate'];
    expect((await runAgainst(service, argv)).exitCode).toBe(0);
  });

  it('does not check inputs against a config of unknown form', async () => {
    const configs = { ...version.config, imageInputs: { min: 1, max: 3 } };
    const answer = success({ rows: [{ ...version, slug: 'greet', configs }] });
    const service = await startScriptedServiceForTest({ ...search, answer }, creation());
    expect((await runAgainst(service, ['run', 'greet', '-i', 'other=x'])).exitCode).toBe(0);
  });
});

describe('on the embedded service', () => {
  /** Creates a prompt with two images, and an image. */
  const createTwoImagePrompt = (): string => {
    const home = createTemporaryDirectory();
    const schema = 'input:\n  schema:\n    photo: string\n    frame: string\n';
    const template = '{{media url=photo}}{{media url=frame}}seen';
    writeFileSync(path.join(home, 'two.prompt'), `---\nmodel: echo\n${schema}---\n${template}\n`);
    writeFileSync(path.join(home, 'cat.png'), png(1, 1));
    return home;
  };

  const run = (home: string, ...argv: string[]): ReturnType<typeof runInProcess> =>
    runInProcess(['run', ...argv], { home, local: localService });

  it('accepts an image by its name, with --input or --image', async () => {
    const flags = ['-i', 'photo=cat.png', '--image', 'frame=cat.png'];
    const { exitCode, stdout } = await run(createTwoImagePrompt(), 'two.prompt', ...flags);
    expect(stdout()).toContain('seen');
    expect(exitCode).toBe(0);
  });

  it.each([
    {
      name: 'a missing image',
      image: 'frame=cat.png',
      message: 'error: missing input: photo (USAGE_ERROR)\nGive it with --image photo=<file>',
    },
    { name: 'an image of an unknown name', image: 'fram=cat.png', message: 'photo, frame' },
  ])('refuses $name, and names those of the prompt', async ({ image, message }) => {
    const { exitCode, stderr } = await run(createTwoImagePrompt(), 'two.prompt', '--image', image);
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    [['hello', '-i', 'name=Ada', '-o', 'temperature=0'], /model echo, which has none/],
    [
      ['hello', '-i', 'name=Ada', '-m', 'ollama/llama3.2', '-o', 'temprature=0'],
      /it has temperature, .*; did you mean temperature\?/,
    ],
    [['sandbox', '-o', 'delay=1'], /model sandbox: it has delaySeconds, outcome/],
    [['sandbox', '-o', 'outcome=maybe'], /outcome must be one of succeeded, failed, partial/],
  ])(
    'refuses an option, and lists those that the model of the prompt accepts: %j',
    async (argv, message) => {
      const { exitCode, stderr } = await run(createTemporaryDirectory(), ...argv);
      expect(stderr()).toMatch(message);
      expect(exitCode).toBe(EXIT.usage);
    },
  );

  it('sends an unlisted option to the provider with --no-validate, as a setting of the prompt is', async () => {
    const provider = await FakeProvider.start();
    try {
      provider.reset(chatAnswer('Bonjour'));
      const home = createTemporaryDirectory();
      writeFileSync(path.join(home, 'a.prompt'), '---\nmodel: here/tiny\n---\nHello\n');
      mkdirSync(path.join(home, 'data'));
      const models = `providers:\n  here: {baseUrl: "${provider.baseUrl}"}\n`;
      writeFileSync(path.join(home, 'data/models.yaml'), models);
      const env = { PROMPTRUN_DATA_DIR: path.join(home, 'data') };
      const argv = [
        'run',
        'a.prompt',
        '-o',
        'service_tier=flex',
        '-o',
        'top_logprobs=2',
        '-o',
        'logprobs=true',
      ];
      const refused = await runInProcess(argv, { home, env, local: localService });

      expect(refused.stderr()).toContain('runOptions.service_tier');
      expect(refused.exitCode).toBe(EXIT.usage);
      expect(provider.requests).toEqual([]);

      const sent = await runInProcess([...argv, '--no-validate'], {
        home,
        env,
        local: localService,
      });
      expect(sent.stdout()).toBe('Bonjour\n');
      expect(sent.exitCode).toBe(0);
      expect(provider.body()).toMatchObject({
        service_tier: 'flex',
        top_logprobs: 2,
        logprobs: true,
      });
    } finally {
      await provider.close();
    }
  });
});
