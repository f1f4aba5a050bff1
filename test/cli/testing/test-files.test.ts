import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import { hasLinks } from '../../support/system.ts';

describe('a fault in a test file', () => {
  it.each([
    [
      'cases:\n  - expct: []\n',
      'echo.test.yaml:2: a case has no key "expct"; did you mean expect?',
    ],
    ['casess: []\n', 'echo.test.yaml:1: a test file has no key "casess"'],
    ['cases: []\n', 'cases is empty'],
    [
      'cases:\n  - expect: [{ contain: a }]\n',
      'echo.test.yaml:2: an expectation has no key "contain"; did you mean contains?',
    ],
    [
      'cases:\n  - expect: [{ judge: echo }]\n',
      '\njudge names a model; rubric says what it judges.\n',
    ],
    ['cases:\n  - expect: [{ matches: "(" }]\n', 'echo.test.yaml:2: matches: '],
    ['cases:\n  - expect: [{ jmespath: "a[" }]\n', 'echo.test.yaml:2: jmespath: '],
    [
      'cases:\n  - expect: [{ schema: none.json }]\n',
      'echo.test.yaml:2: schema: none.json does not exist',
    ],
    [
      'cases:\n  - inputs: { text: "@none.txt" }\n    expect: [{ contains: a }]\n',
      'echo.test.yaml:2: text: none.txt does not exist',
    ],
    [
      'cases:\n  - images: [none.png]\n    expect: [{ contains: a }]\n',
      'echo.test.yaml:2: image: none.png does not exist',
    ],
    [
      'cases:\n  - expect: [{ contains: a }]\n    repeat: 0\n',
      'echo.test.yaml:3: repeat must be a whole number of 1 or more',
    ],
    [
      'cases:\n  - expect: [{ contains: a }]\n    repeat: 2\n    pass: 3\n',
      'echo.test.yaml:4: pass (3) is more than repeat (2)',
    ],
    [
      'model: a\nmodels: [b]\ncases:\n  - expect: [{ contains: a }]\n',
      'echo.test.yaml:2: model and models are both set: keep one',
    ],
    [
      'target: ./none.prompt\ncases:\n  - expect: [{ contains: a }]\n',
      'echo.test.yaml:1: the prompt file ./none.prompt does not exist',
    ],
    [
      'cases:\n  - inputs: { nobody: a }\n    expect: [{ contains: a }]\n',
      'echo.test.yaml:2: the prompt has no input "nobody"',
    ],
    [
      'cases:\n  - expect: [{ contains: a }]\n',
      'echo.test.yaml:2: missing input: text (USAGE_ERROR)\nGive it under the inputs of the case: text: …\n',
    ],
    [
      'cases:\n  - inputs: { text: a }\n    expect: [{ rubric: polite }]\n',
      'echo.test.yaml:3: a rubric needs a judge',
    ],
    ['cases:\n  - expect: [{ any: [] }]\n', 'echo.test.yaml:2: any needs a list of expectations'],
    ['cases:\n  - repeat: 1001\n', 'echo.test.yaml:2: repeat (1001) is more than 1000'],
    [
      'cases:\n  - expect: [{ llm: { prompt: a } }]\n',
      'echo.test.yaml:2: llm needs prompt and choices',
    ],
    ['cases:\n  - expect:\n      - command: [node]\n', 'echo.test.yaml:3: it runs its own command'],
    ['cases: [\n', 'echo.test.yaml:'],
  ])('%j is refused with file and line', async (source, message) => {
    const project = new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': source });
    const { exitCode, stdout, stderr } = await project.run(['test']);
    expect(stderr()).toContain(message);
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is reported for a path that does not exist, and for a directory without tests', async () => {
    const project = new Project({});
    expect((await project.run(['test', 'none'])).exitCode).toBe(EXIT.usage);
    expect((await project.run(['test'])).exitCode).toBe(EXIT.notFound);
  });
});

describe('files that a test file names', () => {
  const elsewhere = (): string => new Project({ 'secret.txt': 'a secret', 'any.json': '{}' }).home;

  it.runIf(hasLinks)(
    'lie below its folder by their real path: else the case is a fault, and the others run',
    async () => {
      const outside = elsewhere();
      const project = createEchoProject(
        [
          `{ name: up, inputs: { text: "@../${path.basename(outside)}/secret.txt" } }`,
          `{ name: absolute, inputs: { text: "@${outside}/secret.txt" } }`,
          `{ name: link, inputs: { text: "@link.txt" } }`,
          `{ name: device, inputs: { text: "@zero" } }`,
          `{ name: loop, inputs: { text: "@loop" } }`,
          `{ name: schema, inputs: { text: a }, expect: [{ schema: ${outside}/any.json }] }`,
          `{ name: fine, inputs: { text: "@own/text.txt" }, expect: [{ equals: own }] }`,
        ]
          .map(testCase => `  - ${testCase}\n`)
          .join(''),
        { 'own/text.txt': 'own' },
      );
      symlinkSync(path.join(outside, 'secret.txt'), path.join(project.home, 'link.txt'));
      symlinkSync('/dev/zero', path.join(project.home, 'zero'));
      symlinkSync('loop', path.join(project.home, 'loop'));
      const { exitCode, stdout } = await project.run(['test', '--json']);
      const { cases } = JSON.parse(stdout()) as { cases: { name: string; status: string }[] };

      expect(cases.filter(({ status }) => status === 'passed').map(({ name }) => name)).toEqual([
        'fine',
      ]);
      expect(exitCode).toBe(EXIT.usage);
      expect(stdout()).not.toContain('a secret');

      const allowed = await project.run([
        'test',
        '--allow-outside',
        '--json',
        '--filter',
        'absolute',
      ]);
      expect(allowed.stdout()).toContain('a secret');
      expect(allowed.exitCode).toBe(0);
    },
  );
});
