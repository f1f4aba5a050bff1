import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { MAX_TEST_FILE_BYTES } from '../../../../src/cli/testing/cases/test-case.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { ECHO, Project } from '../../../support/project.ts';
import { hasLinks, isPosix } from '../../../support/system.ts';

const TEST_FILE = 'cases:\n  - inputs: { text: a }\n';

/** A prompt file of GitHub Models with a test. */
const GITHUB_MODELS_FILE = `messages: [{ role: user, content: "{{text}}" }]
model: echo
testData: [{ text: a }]
evaluators: [{ name: a, string: { contains: a } }]
`;

const GITHUB_MODELS_JSON = JSON.stringify({
  messages: [{ role: 'user', content: '{{text}}' }],
  model: 'echo',
  testData: [{ text: 'a' }],
  evaluators: [{ name: 'a', string: { contains: 'a' } }],
});

/** A project with a fresh clone in `repository`, and with the user's own prompts and tests in `own`. */
class ClonedProject extends Project {
  constructor(files: Readonly<Record<string, string>> = {}) {
    super({
      'own/echo.prompt': ECHO,
      'own/echo.test.yaml': TEST_FILE,
      'own/notes.prompt.yml': GITHUB_MODELS_FILE,
      ...files,
    });
    mkdirSync(this.repository, { recursive: true });
  }

  get repository(): string {
    return path.join(this.home, 'repository');
  }

  link(name: string, target: string): void {
    const link = path.join(this.repository, name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(target, link);
  }

  async test(...argv: string[]) {
    const { exitCode, stdout, stderr } = await this.run(['test', ...argv], {
      home: this.repository,
    });
    return { exitCode, stdout: stdout(), stderr: stderr() };
  }
}

describe('a test file in a folder', () => {
  it.runIf(hasLinks).each([
    {
      name: 'a link to a file elsewhere',
      target: '../own/echo.test.yaml',
      reason: 'it leads out of',
    },
    { name: 'a link to nothing', target: 'nowhere', reason: 'it is a link to nothing' },
    { name: 'a link to itself', target: 'x.test.yaml', reason: 'it is not a regular file' },
    { name: 'a link to a folder', target: '.', reason: 'it is not a regular file' },
    { name: 'a link to a device', target: '/dev/zero', reason: 'it leads out of' },
  ])('is left out and reported if it is $name', async ({ target, reason }) => {
    const project = new ClonedProject({
      'repository/echo.prompt': ECHO,
      'repository/echo.test.yaml': TEST_FILE,
    });
    project.link('x.test.yaml', target);
    const { exitCode, stdout, stderr } = await project.test('--json');
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`warning: x.test.yaml is left out: ${reason}`);
    expect(stdout).not.toContain('x.test.yaml');
  });

  it.runIf(isPosix)('is left out and reported if it is a pipe', async () => {
    const project = new ClonedProject();
    execFileSync('mkfifo', [path.join(project.repository, 'x.test.yaml')]);
    execFileSync('mkfifo', [path.join(project.repository, 'x.prompt.yml')]);
    const { exitCode, stderr } = await project.test();
    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr).toContain('x.test.yaml is left out: it is not a regular file');
    expect(stderr).toContain('x.prompt.yml is left out: it is not a regular file');
  });

  it.runIf(hasLinks)(
    'is left out and reported if it is a link to a prompt with tests elsewhere',
    async () => {
      const project = new ClonedProject();
      project.link('x.prompt.yml', '../own/notes.prompt.yml');
      const { exitCode, stderr } = await project.test();
      expect(stderr).toContain('x.prompt.yml is left out: it leads out');
      expect(exitCode).toBe(EXIT.notFound);
    },
  );

  it.runIf(hasLinks)('is run if it is a link within the folder', async () => {
    const project = new ClonedProject({
      'repository/echo.prompt': ECHO,
      'repository/shared/all.yaml': TEST_FILE,
    });
    project.link('echo.test.yaml', 'shared/all.yaml');
    expect(await project.test()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['JSON', GITHUB_MODELS_JSON],
    [
      'quoted keys',
      GITHUB_MODELS_FILE.replace('testData:', '"testData":').replace(
        'evaluators:',
        "'evaluators' :",
      ),
    ],
  ])('is found if it is a file of GitHub Models in %s', async (_, text) => {
    const project = new ClonedProject({ 'repository/a.prompt.yml': text });
    expect(await project.test()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 passed'),
    });
  });

  it('is a fault of that file alone if it is too large', async () => {
    const project = new ClonedProject({
      'repository/echo.prompt': ECHO,
      'repository/echo.test.yaml': TEST_FILE,
      'repository/large.prompt.yml': `${GITHUB_MODELS_FILE}# ${'x'.repeat(MAX_TEST_FILE_BYTES)}\n`,
    });
    const { exitCode, stdout, stderr } = await project.test();

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toMatch(/^error: .*large\.prompt\.yml/mu);
    expect(stdout).toContain('1 passed');
  });

  it.runIf(hasLinks)('is found over a link to a folder that the user names', async () => {
    const project = new ClonedProject();
    project.link('linked', '../own');
    const { exitCode, stdout } = await project.test('linked');
    expect(stdout).toContain('2 passed');
    expect(exitCode).toBe(0);
  });

  it.runIf(hasLinks)('is run if the user names a link to it', async () => {
    const project = new ClonedProject();
    project.link('named.test.yaml', '../own/echo.test.yaml');
    project.write('repository/named.prompt', ECHO);
    expect((await project.test('named.test.yaml')).exitCode).toBe(0);
  });

  it.runIf(hasLinks)('is not looked for in folders that are links', async () => {
    const project = new ClonedProject();
    project.link('linked', '../own');
    expect((await project.test()).exitCode).toBe(EXIT.notFound);
  });
});

interface OutsidePrompt {
  /** The condition in the title of the test. */
  readonly name: string;
  readonly testFile: string;
  /** Adds what the test file needs to the project. */
  readonly prepare?: (project: ClonedProject) => void;
}

const PROMPTS_OVER_LINKS: readonly OutsidePrompt[] = [
  {
    name: 'lies next to it as a link',
    testFile: TEST_FILE,
    prepare: project => project.link('x.prompt', '../own/echo.prompt'),
  },
  {
    name: 'is named as a link',
    testFile: `target: y.prompt\n${TEST_FILE}`,
    prepare: project => project.link('y.prompt', '../own/echo.prompt'),
  },
  {
    name: 'is named over a link',
    testFile: `target: in/echo.prompt\n${TEST_FILE}`,
    prepare: project => project.link('in', '../own'),
  },
];

describe('the prompt of a test', () => {
  const OUTSIDE_MESSAGE =
    'lies outside the working directory, the folder of the tests and their repository';

  it.each<OutsidePrompt>([
    ...(hasLinks ? PROMPTS_OVER_LINKS : []),
    { name: 'is named with ..', testFile: `target: ../own/echo.prompt\n${TEST_FILE}` },
    {
      name: 'is a file of GitHub Models',
      testFile: `target: ../own/notes.prompt.yml\n${TEST_FILE}`,
    },
    {
      name: 'has no file extension',
      testFile: `target: ../own/secret\n${TEST_FILE}`,
      prepare: project => project.write('own/secret', ECHO),
    },
  ])(
    'is a fault of its test file if it lies elsewhere and $name',
    async ({ testFile, prepare }) => {
      const project = new ClonedProject({
        'repository/echo.prompt': ECHO,
        'repository/echo.test.yaml': TEST_FILE,
      });
      project.write('repository/x.test.yaml', testFile);
      prepare?.(project);
      const { exitCode, stdout, stderr } = await project.test();
      expect(stderr).toContain(OUTSIDE_MESSAGE);
      expect(exitCode).toBe(EXIT.usage);
      expect(stderr).toMatch(/^error: x\.test\.yaml:1: /mu);
      expect(stdout).toContain('1 passed');
    },
  );

  it('is refused if it lies elsewhere and an absolute path names it', async () => {
    const project = new ClonedProject();
    project.write(
      'repository/x.test.yaml',
      `target: ${path.join(project.home, 'own/echo.prompt')}\n${TEST_FILE}`,
    );
    expect(await project.test()).toMatchObject({
      exitCode: EXIT.usage,
      stderr: expect.stringContaining(OUTSIDE_MESSAGE) as string,
    });
  });

  it.runIf(hasLinks).each([
    ['with --allow-outside', ['--allow-outside']],
    ['for a test file that is named', ['x.test.yaml']],
  ])('may lie elsewhere %s, whether it is named or linked', async (_, argv) => {
    const project = new ClonedProject({
      'repository/x.test.yaml': `target: ../own/echo.prompt\n${TEST_FILE}`,
    });
    expect((await project.test(...argv)).exitCode).toBe(0);

    project.write('repository/x.test.yaml', TEST_FILE);
    project.link('x.prompt', '../own/echo.prompt');
    expect((await project.test(...argv)).exitCode).toBe(0);
  });

  it('may lie in the repository of the folder that is tested, or in the folder that is named', async () => {
    const project = new ClonedProject({
      'own/.git/HEAD': '',
      'own/deep/in/x.test.yaml': `target: ../../echo.prompt\n${TEST_FILE}`,
    });
    const deep = path.join(project.home, 'own/deep/in');

    expect((await project.test(deep)).exitCode).toBe(0);

    rmSync(path.join(project.home, 'own/.git'), { recursive: true });
    expect((await project.test(deep)).exitCode).toBe(EXIT.usage);
    expect((await project.test(path.join(project.home, 'own'))).exitCode).toBe(0);
  });

  it("may lie anywhere if the user's own alias names it", async () => {
    const project = new ClonedProject({ 'repository/x.test.yaml': `target: mine\n${TEST_FILE}` });
    const mine = path.join(project.home, 'own/echo.prompt');
    await project.run(['alias', 'set', 'mine', mine], { home: project.repository });
    expect((await project.test()).exitCode).toBe(0);
  });

  it.runIf(hasLinks)(
    'takes partials only from below its folder without --allow-outside',
    async () => {
      const project = new ClonedProject({
        'repository/x.test.yaml': `target: in/p.prompt\n${TEST_FILE}`,
        'repository/in/p.prompt':
          '---\nmodel: echo\ninput: { schema: { text: string } }\n---\n{{> sign}}{{text}}',
        'repository/_sign.prompt': 'signed',
      });
      project.link('in/_sign.prompt', '../_sign.prompt');
      const { exitCode, stderr } = await project.test();

      expect(stderr).toContain('lies outside the folder of its prompt');
      expect(exitCode).toBe(EXIT.usage);

      expect((await project.test('--allow-outside')).exitCode).toBe(0);
    },
  );

  it.runIf(isPosix)('is a fault if it is a pipe', async () => {
    const project = new ClonedProject({ 'repository/x.test.yaml': TEST_FILE });
    execFileSync('mkfifo', [path.join(project.repository, 'x.prompt')]);
    const { exitCode, stderr } = await project.test();
    expect(stderr).toContain('x.prompt is not a regular file');
    expect(exitCode).toBe(EXIT.usage);
  });
});

it.runIf(hasLinks)(
  'names test files by their paths in the working directory if they are in it over a link',
  async () => {
    const project = new Project({
      'private/echo.prompt': ECHO,
      'private/sub/x.test.yaml': 'target: ../echo.prompt\ncases: [{ inputs: { text: a } }]\n',
    });
    const home = path.join(project.home, 'private');
    symlinkSync('private', path.join(project.home, 'tmp'));

    for (const name of ['tmp', 'tmp/sub', 'tmp/sub/x.test.yaml']) {
      const { stdout } = await project.run(['test', path.join(project.home, name)], { home });
      expect(stdout()).toMatch(/ sub\/x\.test\.yaml: /u);
    }
  },
);

describe('completion', () => {
  async function complete(home: string, words: string[]): Promise<string[]> {
    const { stdout, stderr } = await new Project({}).run(['__complete', 'fish', '--', ...words], {
      home,
    });
    expect(stderr()).toBe('');
    return stdout()
      .split('\n')
      .flatMap(line => line.split('\t')[0] || []);
  }

  it.runIf(hasLinks)(
    'silently leaves out prompts and tests that lead out of their folder or are not files',
    async () => {
      const home = createTemporaryDirectory();
      const outside = createTemporaryDirectory();
      // Only a, a file, and b, a link to it within the folder, may be offered.
      for (const name of ['x.prompt', 'x.test.yaml']) {
        writeFileSync(path.join(home, `a-${name}`), '');
        writeFileSync(path.join(outside, name), '');
        symlinkSync(`a-${name}`, path.join(home, `b-${name}`));
        symlinkSync(path.join(outside, name), path.join(home, `c-${name}`));
        symlinkSync('nowhere', path.join(home, `d-${name}`));
        if (isPosix) symlinkSync('/dev/zero', path.join(home, `e-${name}`));
        if (isPosix) execFileSync('mkfifo', [path.join(home, `f-${name}`)]);
      }

      expect(await complete(home, ['prompts', 'check', ''])).toEqual(['a-x.prompt', 'b-x.prompt']);
      expect(await complete(home, ['test', ''])).toEqual(['a-x.test.yaml', 'b-x.test.yaml']);
    },
  );

  it.runIf(hasLinks)('offers the files of a folder that is a link', async () => {
    const home = createTemporaryDirectory();
    const outside = createTemporaryDirectory();
    writeFileSync(path.join(outside, 'x.prompt'), '');
    symlinkSync(outside, path.join(home, 'linked'));
    expect(await complete(home, ['prompts', 'check', ''])).toEqual(['linked/']);
    expect(await complete(home, ['prompts', 'check', 'linked/'])).toEqual(['linked/x.prompt']);
  });
});
