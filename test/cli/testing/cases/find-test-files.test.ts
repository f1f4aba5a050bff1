import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { temporaryDirectory } from '../../../support/context.ts';
import { ECHO, Project } from '../../../support/project.ts';
import { hasLinks, isPosix } from '../../../support/system.ts';

const TEST = 'cases:\n  - inputs: { text: a }\n';

/** A fresh clone, `repository`, next to which its user has a prompt and his own test, `own`. */
class Scene extends Project {
  constructor(files: Readonly<Record<string, string>> = {}) {
    super({
      'own/echo.prompt': ECHO,
      'own/echo.test.yaml': TEST,
      'own/notes.prompt.yml': FOREIGN,
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

const FOREIGN = `messages: [{ role: user, content: "{{text}}" }]
model: echo
testData: [{ text: a }]
evaluators: [{ name: a, string: { contains: a } }]
`;

const FOREIGN_JSON = JSON.stringify({
  messages: [{ role: 'user', content: '{{text}}' }],
  model: 'echo',
  testData: [{ text: 'a' }],
  evaluators: [{ name: 'a', string: { contains: 'a' } }],
});

describe('a test file in a folder', () => {
  it.runIf(hasLinks).each([
    ['a link to a file elsewhere', '../own/echo.test.yaml', 'it leads out of'],
    ['a link to nothing', 'nowhere', 'it is a link to nothing'],
    ['a loop', 'x.test.yaml', 'it is not a regular file'],
    ['a link to a folder', '.', 'it is not a regular file'],
    ['a link to a device', '/dev/zero', 'it leads out of'],
  ])('is left out and reported if it is %s', async (_, target, reason) => {
    const scene = new Scene({ 'repository/echo.prompt': ECHO, 'repository/echo.test.yaml': TEST });
    scene.link('x.test.yaml', target);
    const { exitCode, stdout, stderr } = await scene.test('--json');
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`warning: x.test.yaml is left out: ${reason}`);
    expect(stdout).not.toContain('x.test.yaml');
  });

  it.runIf(isPosix)('is left out and reported if it is a pipe', async () => {
    const scene = new Scene();
    execFileSync('mkfifo', [path.join(scene.repository, 'x.test.yaml')]);
    execFileSync('mkfifo', [path.join(scene.repository, 'x.prompt.yml')]);
    const { exitCode, stderr } = await scene.test();
    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr).toContain('x.test.yaml is left out: it is not a regular file');
    expect(stderr).toContain('x.prompt.yml is left out: it is not a regular file');
  });

  it.runIf(hasLinks)('of another form is left out and reported as well', async () => {
    const scene = new Scene();
    scene.link('x.prompt.yml', '../own/notes.prompt.yml');
    const { exitCode, stderr } = await scene.test();
    expect(stderr).toContain('x.prompt.yml is left out: it leads out');
    expect(exitCode).toBe(EXIT.notFound);
  });

  it.runIf(hasLinks)('may be a link within the folder, and is run then', async () => {
    const scene = new Scene({ 'repository/echo.prompt': ECHO, 'repository/shared/all.yaml': TEST });
    scene.link('echo.test.yaml', 'shared/all.yaml');
    expect(await scene.test()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['JSON', FOREIGN_JSON],
    [
      'quoted keys',
      FOREIGN.replace('testData:', '"testData":').replace('evaluators:', "'evaluators' :"),
    ],
  ])('is found if it is a file of GitHub Models in %s', async (_, text) => {
    const scene = new Scene({ 'repository/a.prompt.yml': text });
    expect(await scene.test()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 passed'),
    });
  });

  it.runIf(hasLinks)('is found over a link that the user names', async () => {
    const scene = new Scene();
    scene.link('linked', '../own');
    const { exitCode, stdout } = await scene.test('linked');
    expect(stdout).toContain('2 passed');
    expect(exitCode).toBe(0);
    scene.link('named.test.yaml', '../own/echo.test.yaml');
    scene.write('repository/named.prompt', ECHO);
    expect((await scene.test('named.test.yaml')).exitCode).toBe(0);
  });

  it.runIf(hasLinks)('is not looked for in folders that are links', async () => {
    const scene = new Scene();
    scene.link('linked', '../own');
    expect((await scene.test()).exitCode).toBe(EXIT.notFound);
  });
});

const OVER_LINKS: [string, string, (scene: Scene) => void][] = hasLinks
  ? [
      ['lies next to it as a link', TEST, scene => scene.link('x.prompt', '../own/echo.prompt')],
      [
        'is named as a link',
        `target: y.prompt\n${TEST}`,
        scene => scene.link('y.prompt', '../own/echo.prompt'),
      ],
      [
        'is named over a link',
        `target: in/echo.prompt\n${TEST}`,
        scene => scene.link('in', '../own'),
      ],
    ]
  : [];

describe('the prompt of a test', () => {
  const outside =
    'lies outside the working directory, the folder of the tests and their repository';

  it.each<[string, string, (scene: Scene) => void]>([
    ...OVER_LINKS,
    ['is named with ..', `target: ../own/echo.prompt\n${TEST}`, () => {}],
    ['is of another form', `target: ../own/notes.prompt.yml\n${TEST}`, () => {}],
    [
      'has no ending of its own',
      `target: ../own/secret\n${TEST}`,
      scene => scene.write('own/secret', ECHO),
    ],
  ])('is a fault of that file if it %s and lies elsewhere', async (_, text, prepare) => {
    const scene = new Scene({ 'repository/echo.prompt': ECHO, 'repository/echo.test.yaml': TEST });
    scene.write('repository/x.test.yaml', text);
    prepare(scene);
    const { exitCode, stdout, stderr } = await scene.test();
    expect(stderr).toContain(outside);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toMatch(/^error: x\.test\.yaml:1: /mu);
    expect(stdout).toContain('1 passed');
  });

  it('named by an absolute path is refused as well', async () => {
    const scene = new Scene();
    scene.write(
      'repository/x.test.yaml',
      `target: ${path.join(scene.home, 'own/echo.prompt')}\n${TEST}`,
    );
    expect(await scene.test()).toMatchObject({
      exitCode: EXIT.usage,
      stderr: expect.stringContaining(outside) as string,
    });
  });

  it.runIf(hasLinks).each([
    ['with --allow-outside', ['--allow-outside']],
    ['for a test file that is named', ['x.test.yaml']],
  ])('may lie elsewhere %s', async (_, argv) => {
    const scene = new Scene({ 'repository/x.test.yaml': `target: ../own/echo.prompt\n${TEST}` });
    expect((await scene.test(...argv)).exitCode).toBe(0);
    rmSync(path.join(scene.repository, 'x.test.yaml'));
    scene.link('x.prompt', '../own/echo.prompt');
    scene.write('repository/x.test.yaml', TEST);
    expect((await scene.test(...argv)).exitCode).toBe(0);
  });

  it('may lie in the repository of the folder that is tested, or in the folder that is named', async () => {
    const scene = new Scene({
      'own/.git/HEAD': '',
      'own/deep/in/x.test.yaml': `target: ../../echo.prompt\n${TEST}`,
    });
    const deep = path.join(scene.home, 'own/deep/in');

    expect((await scene.test(deep)).exitCode).toBe(0);

    rmSync(path.join(scene.home, 'own/.git'), { recursive: true });
    expect((await scene.test(deep)).exitCode).toBe(EXIT.usage);
    expect((await scene.test(path.join(scene.home, 'own'))).exitCode).toBe(0);
  });

  it("may be an alias for a file anywhere: that is the user's own", async () => {
    const scene = new Scene({ 'repository/x.test.yaml': `target: mine\n${TEST}` });
    const mine = path.join(scene.home, 'own/echo.prompt');
    await scene.run(['alias', 'set', 'mine', mine], { home: scene.repository });
    expect((await scene.test()).exitCode).toBe(0);
  });

  it.runIf(hasLinks)('has its partials below its own folder, wherever the test lies', async () => {
    const scene = new Scene({
      'repository/x.test.yaml': `target: in/p.prompt\n${TEST}`,
      'repository/in/p.prompt':
        '---\nmodel: echo\ninput: { schema: { text: string } }\n---\n{{> sign}}{{text}}',
      'repository/_sign.prompt': 'signed',
    });
    scene.link('in/_sign.prompt', '../_sign.prompt');
    const { exitCode, stderr } = await scene.test();

    expect(stderr).toContain('lies outside the folder of its prompt');
    expect(exitCode).toBe(EXIT.usage);
    expect((await scene.test('--allow-outside')).exitCode).toBe(0);
  });

  it.runIf(isPosix)('is a fault if it is a pipe', async () => {
    const scene = new Scene({ 'repository/x.test.yaml': TEST });
    execFileSync('mkfifo', [path.join(scene.repository, 'x.prompt')]);
    const { exitCode, stderr } = await scene.test();
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

    for (const typed of ['tmp', 'tmp/sub', 'tmp/sub/x.test.yaml']) {
      const { stdout } = await project.run(['test', path.join(project.home, typed)], { home });
      expect(stdout()).toMatch(/ sub\/x\.test\.yaml: /u);
    }
  },
);

describe('completion', () => {
  async function completions(home: string, words: string[]): Promise<string[]> {
    const { stdout, stderr } = await new Project({}).run(['__complete', 'fish', '--', ...words], {
      home,
    });
    expect(stderr()).toBe('');
    return stdout()
      .split('\n')
      .flatMap(line => line.split('\t')[0] || []);
  }

  it.runIf(hasLinks)(
    'leaves out prompts and tests that lead out of their folder, and what is not a file, without a word',
    async () => {
      const home = temporaryDirectory();
      const outside = temporaryDirectory();
      for (const name of ['x.prompt', 'x.test.yaml']) {
        writeFileSync(path.join(home, `a-${name}`), '');
        writeFileSync(path.join(outside, name), '');
        symlinkSync(`a-${name}`, path.join(home, `b-${name}`));
        symlinkSync(path.join(outside, name), path.join(home, `c-${name}`));
        symlinkSync('nowhere', path.join(home, `d-${name}`));
        if (isPosix) symlinkSync('/dev/zero', path.join(home, `e-${name}`));
        if (isPosix) execFileSync('mkfifo', [path.join(home, `f-${name}`)]);
      }

      expect(await completions(home, ['prompts', 'check', ''])).toEqual([
        'a-x.prompt',
        'b-x.prompt',
      ]);
      expect(await completions(home, ['test', ''])).toEqual(['a-x.test.yaml', 'b-x.test.yaml']);
    },
  );

  it.runIf(hasLinks)('offers what lies in a folder that is a link', async () => {
    const home = temporaryDirectory();
    const outside = temporaryDirectory();
    writeFileSync(path.join(outside, 'x.prompt'), '');
    symlinkSync(outside, path.join(home, 'linked'));
    expect(await completions(home, ['prompts', 'check', ''])).toEqual(['linked/']);
    expect(await completions(home, ['prompts', 'check', 'linked/'])).toEqual(['linked/x.prompt']);
  });
});
