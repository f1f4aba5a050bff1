import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { localService } from '../../../../src/main.ts';
import { runInProcess, type TestOptions, temporaryDirectory } from '../../../support/context.ts';
import { png } from '../../../support/pictures.ts';
import { runWithScript } from '../../../support/run-with-script.ts';
import { failure, success } from '../../../support/scripted-service.ts';

const SUM =
  '---\nmodel: echo\ninput:\n  schema:\n    count: integer\n    who?: string\n---\n{{count}} for {{who}}\n';

const GITHUB_PROMPT = String.raw`name: Sum up
model: openai/gpt-4o-mini
modelParameters: { temperature: 0.5, maxTokens: 9 }
responseFormat: json_schema
jsonSchema: '{"name": "x", "strict": true, "schema": {"type": "object"}}'
messages:
  - role: system
    content: 'Sum up. {{#if x}} \{{#y}} {{{z}}}'
  - role: user
    content: |
      <{{json}}> C:\{{ b }}
  - role: assistant
    content: 'Yes'
testData: []
`;

function machine(files: Readonly<Record<string, string | Buffer>> = {}) {
  const home = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  const promptrun = async (argv: readonly string[], options: TestOptions = {}) => {
    const { exitCode, stdout, stderr } = await runInProcess(argv, { home, local: localService, ...options });
    return { exitCode, stdout: stdout(), stderr: stderr() };
  };
  return { home, promptrun };
}

it.each([
  ['title: [a]', 'Both faults: promptrun prompts check a.prompt\n'],
  ['title: [a]\ndescription: [b]', 'All 3 faults: promptrun prompts check a.prompt\n'],
])('a run of a file with several faults says how to see them: %j', async (fields, hint) => {
  const { promptrun } = machine({ 'a.prompt': `---\nmodel: [c]\n${fields}\n---\na\n` });
  const { stderr, exitCode } = await promptrun(['run', 'a.prompt']);
  expect([stderr, exitCode]).toEqual([expect.stringContaining(hint), 2]);
});

describe('a run of a file of another tool', () => {
  it.each(['_a.prompt.yml', 'a (2).prompt.yaml', '_b.md'])('takes a file of any name: %s', async file => {
    const text = file.endsWith('.md') ? 'hello' : 'model: echo\nmessages: [{ role: user, content: hello }]\n';
    const { promptrun } = machine({ [file]: text });
    const { stdout, exitCode } = await promptrun(['run', file, '-m', 'echo']);
    expect([stdout, exitCode]).toEqual([expect.stringContaining('hello'), 0]);
  });

  it.each([
    [
      'a.prompt.yml',
      'model: echo\nmodelParameters: { temperature: 0.5, foo: 3 }\nmessages: [{ role: user, content: a }]\n',
      'note: a.prompt.yml:2: the parameter `foo` is unknown: it is not sent',
    ],
    [
      'b.md',
      '---\ndescription: b\n---\nSee !`ls`\n',
      'note: b.md:4: the command !`ls` is not carried out: it is sent as text',
    ],
    [
      'c.prompt',
      '---\nmodel: echo\ninput:\n  schema: Nothing\n---\nc\n',
      'note: c.prompt:4: unknown schema `Nothing`',
    ],
    [
      'tools.prompt',
      '---\nmodel: echo\ntools: [a]\n---\nd\n',
      'note: tools.prompt:3: `tools` has no effect here: no tools are called',
    ],
    ['d.prompt', '---\nmodel: echo\nother: 1\n---\nd\n', undefined],
  ])('names what is not carried out, once: %s', async (file, text, note) => {
    const { promptrun } = machine({ [file]: text });
    const { exitCode, stderr } = await promptrun(['run', file, '-m', 'echo']);
    const notes = stderr.split('\n').filter(line => line.startsWith(`note: ${file}`));
    expect([exitCode, notes]).toEqual([0, note === undefined ? [] : [expect.stringContaining(note)]]);
  });
});

describe('prompts without a verb', () => {
  it('lists the prompts, the simplest sample first', async () => {
    const { stdout, exitCode } = await machine().promptrun(['prompts']);
    expect(stdout).toMatch(/^hello\t.*\npostcard\t/);
    expect(exitCode).toBe(0);
  });

  it('explains itself if the service has no such list, and asks it nothing', async () => {
    const { stdout, exitCode } = await runWithScript([], ['prompts']);
    expect(stdout).toMatch(/^Usage: promptrun prompts \[options\] \[command\]/);
    expect(exitCode).toBe(0);
  });

  it('refuses a verb that does not exist', async () => {
    const { stderr, exitCode } = await machine().promptrun(['prompts', 'lst']);
    expect(stderr).toMatch(/^error: unknown command 'lst'; did you mean list\?/);
    expect(exitCode).toBe(2);
  });
});

describe('prompts get', () => {
  it('says how to run a prompt by the name it was asked for', async () => {
    const { stdout } = await machine().promptrun(['prompts', 'get', 'hello', '--no-color'], {
      terminal: { stdout: true },
    });
    expect(stdout).toContain("Run it: promptrun run hello -i 'name=…'\n");
  });

  it('suggests the nearest prompt for a name that does not exist, and the list of names', async () => {
    const { stderr, exitCode } = await machine().promptrun(['prompts', 'get', 'helo']);
    expect(stderr).toContain(
      'error: the prompt "helo" does not exist; did you mean hello? (NOT_FOUND_ERROR)\nList the prompts with: promptrun prompts list\n',
    );
    expect(exitCode).toBe(4);
  });
});

describe('prompts list', () => {
  it('shows every prompt of the local service, with nothing to search for', async () => {
    const { promptrun } = machine();
    const { stdout, exitCode } = await promptrun(['prompts', 'list', '--query', 'sort([].slug)']);
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(['describe', 'hello', 'postcard', 'sandbox']));
    expect(exitCode).toBe(0);
  });

  it('names the search if a service has no such list', async () => {
    const script = [
      { expect: { path: '/prompts' }, answer: failure(404, 'NOT_FOUND_ERROR', 'no such endpoint') },
    ];
    const { stderr, exitCode } = await runWithScript(script, ['prompts', 'list']);
    expect(stderr).toMatch(
      /^error: \S+ does not list its prompts \(USAGE_ERROR\)\n.*promptrun prompts search/,
    );
    expect(exitCode).toBe(2);
  });

  it('succeeds with no output if there are no prompts', async () => {
    const script = [{ expect: { path: '/prompts' }, answer: success({ rows: [], hasMore: false }) }];
    expect(await runWithScript(script, ['prompts', 'list', '--json'])).toMatchObject({
      stdout: '[]\n',
      exitCode: 0,
    });
  });
});

describe('prompts new', () => {
  it.each([
    [[], "promptrun run sub/tides.prompt -i 'topic=…'"],
    [['--image'], "promptrun run sub/tides.prompt -i 'place=…'"],
  ])(
    '%j writes a prompt that is right, its test file, and a command that runs it',
    async (flags, command) => {
      const { home, promptrun } = machine();
      const { stdout, stderr, exitCode } = await promptrun(['prompts', 'new', 'sub/tides', ...flags]);
      expect([stdout, exitCode]).toEqual(['sub/tides.prompt\nsub/tides.test.yaml\n', 0]);
      expect(stderr).toContain(`run it with: ${command}\n`);
      const [, ...argv] = command.replaceAll("'", '').split(' ');
      expect((await promptrun(argv)).exitCode).toBe(0);
      expect(existsSync(path.join(home, 'sub', 'tides.test.yaml'))).toBe(true);
      expect((await promptrun(['prompts', 'check', 'sub/tides.prompt'])).stdout).toBe('');
    },
  );

  it('refuses a name under which no prompt can run', async () => {
    const { promptrun, home } = machine();
    const { stderr, exitCode } = await promptrun(['prompts', 'new', 'sub/my tides.prompt']);
    expect(stderr).toMatch(/^error: "sub\/my tides\.prompt": the file's name becomes the prompt's slug, /);
    expect([existsSync(path.join(home, 'sub')), exitCode]).toEqual([false, 2]);
  });

  it('says in words why nothing can be written, without the name of a temporary file', async () => {
    const { promptrun } = machine({ 'a.txt': '' });
    expect(await promptrun(['prompts', 'new', 'a.txt/tides'])).toMatchObject({
      exitCode: 2,
      stderr:
        "error: a.txt/tides.prompt can't be written: a part of its path is not a directory (USAGE_ERROR)\n",
    });
  });

  it('converts a prompt of GitHub Models, which then says the same to the model', async () => {
    const { promptrun } = machine({ 'sum.prompt.yml': GITHUB_PROMPT });
    const { stdout, stderr, exitCode } = await promptrun([
      'prompts',
      'new',
      'sum',
      '--from',
      'sum.prompt.yml',
    ]);
    expect([stdout, exitCode]).toEqual(['sum.prompt\n', 0]);
    expect(stderr).not.toContain('sum.prompt.yml');
    const rendered = await promptrun([
      'prompts',
      'render',
      'sum.prompt',
      '-i',
      'json=A',
      '-i',
      'z=Z',
      '--json',
    ]);
    expect(JSON.parse(rendered.stdout)).toMatchObject({
      model: 'openai/gpt-4o-mini',
      config: { temperature: 0.5, maxOutputTokens: 9 },
      messages: [
        { role: 'system', content: [{ text: 'Sum up. {{#if x}} \\{{#y}} {Z}' }] },
        { role: 'user', content: [{ text: '<A> C:\\{{ b }}\n' }] },
        { role: 'model', content: [{ text: 'Yes' }] },
      ],
      output: { format: 'json', schema: { type: 'object' } },
    });
  });

  it('reports the faults of a file that it cannot convert', async () => {
    const { promptrun, home } = machine({
      'a.prompt.yml': 'name: A\nmessages:\n  - role: judge\n    content: x\n',
    });
    const { stderr, exitCode } = await promptrun(['prompts', 'new', 'a', '--from', 'a.prompt.yml']);
    expect([stderr, exitCode]).toEqual([
      'error: a.prompt.yml:3: the `role` of a message must be system, user or assistant (USAGE_ERROR)\n',
      2,
    ]);
    expect(existsSync(path.join(home, 'a.prompt'))).toBe(false);
  });

  it('overwrites nothing, and leaves no partial files', async () => {
    const { home, promptrun } = machine({ 'tides.test.yaml': 'mine' });
    const { stderr, exitCode } = await promptrun(['prompts', 'new', 'tides.prompt']);
    expect(stderr).toMatch(/^error: tides\.test\.yaml already exists/);
    expect([exitCode, existsSync(path.join(home, 'tides.prompt'))]).toEqual([2, false]);
    expect(readFileSync(path.join(home, 'tides.test.yaml'), 'utf8')).toBe('mine');
  });
});

describe('prompts check', () => {
  it('reports a file that is not text, and checks the next one', async () => {
    const { promptrun } = machine({ 'bytes.prompt': Buffer.from([0x48, 0xe9]), 'bad.prompt': '{{#if x}}' });
    const { stdout, exitCode } = await promptrun(['prompts', 'check', 'bytes.prompt', 'bad.prompt']);
    expect(stdout).toMatch(
      /^bytes\.prompt:1:1: fault: the file is not valid UTF-8 text; save it as UTF-8\nbad\.prompt:1:1: fault: /u,
    );
    expect(exitCode).toBe(2);
  });

  it('reports the faults of the other files if some do not exist', async () => {
    const { promptrun } = machine({ 'bad.prompt': '{{#if x}}' });
    const files = ['gone.prompt', 'bad.prompt', 'lost.prompt'];
    const { stdout, stderr, exitCode } = await promptrun(['prompts', 'check', ...files]);
    expect(stdout).toMatch(/^bad\.prompt:1:1: fault: .*\n$/u);
    expect(stderr).toBe(
      'error: prompts check: gone.prompt does not exist (USAGE_ERROR)\nprompts check: lost.prompt does not exist\n',
    );
    expect(exitCode).toBe(2);
  });

  it('finds the files of a pattern, which the shells of Windows leave as it is', async () => {
    const { promptrun } = machine({ 'a.prompt': '{{#if x}}', 'b.prompt': '{{#if x}}', 'a.txt': '{{#if x}}' });
    const { stdout } = await promptrun(['prompts', 'check', './*.prompt']);
    expect(stdout).toMatch(/^a\.prompt:1:.*\nb\.prompt:1:.*\n$/u);
    const { stderr, exitCode } = await promptrun(['prompts', 'publish', 'c*.prompt']);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('c*.prompt does not exist'), 2]);
  });

  const BAD = '---\nmodel: nowhere\ninput:\n  schema:\n    a: strin\n---\n{{#if a}}x\n';

  it('shows every fault with its place, and exits 2', async () => {
    const { promptrun } = machine({ 'bad.prompt': BAD, 'sum.prompt': SUM });
    const { stdout, stderr, exitCode } = await promptrun(['prompts', 'check', 'bad.prompt', 'sum.prompt']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/^bad\.prompt:\d+:\d+: (fault|note): /);
    expect(stderr).toMatch(/^error: \d+ faults in 1 prompt file \(USAGE_ERROR\)\n$/);
    expect(exitCode).toBe(2);
  });

  it('prints them as an array with --json', async () => {
    const { promptrun } = machine({ 'bad.prompt': BAD });
    const { stdout, exitCode } = await promptrun(['prompts', 'check', 'bad.prompt', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ severity: 'fault', file: 'bad.prompt', line: 5 }),
    );
    expect(exitCode).toBe(2);
  });

  it('accepts what is merely unknown, with a note', async () => {
    const { promptrun } = machine({ 'x.prompt': '---\nmodel: echo\nflavour: mint\n---\nx\n' });
    const { stdout, exitCode } = await promptrun(['prompts', 'check', 'x.prompt']);
    expect([stdout, exitCode]).toEqual([expect.stringMatching(/^x\.prompt:3:1: note: .*flavour/), 0]);
  });

  it.each([
    ['missing.prompt', /^error: prompts check: /],
    [
      '.',
      /^error: \. is a directory .*\nCheck its prompt files with: promptrun prompts check \.\/\*\.prompt\n/,
    ],
  ])('refuses %s', async (file, message) => {
    const { exitCode, stderr } = await machine().promptrun(['prompts', 'check', file]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('reports a model that is not on this machine as a fault only if asked to, and prints its schema', async () => {
    const { promptrun } = machine({ 'x.prompt': '---\nmodel: nowhere/x\n---\nx\n' });
    const plain = await promptrun(['prompts', 'check', 'x.prompt']);
    expect([plain.stdout, plain.exitCode]).toEqual([expect.stringMatching(/^x\.prompt:2:8: note: /), 0]);
    const strict = await promptrun(['prompts', 'check', 'x.prompt', '--models']);
    expect([strict.stdout, strict.exitCode]).toEqual([expect.stringMatching(/^x\.prompt:2:8: fault: /), 2]);
    const { stdout } = await promptrun(['prompts', 'check', '--print-schema']);
    expect(JSON.parse(stdout)).toMatchObject({ properties: { model: { type: 'string' } } });
  });
});

describe('prompts render', () => {
  it('shows what a model would get, and publishes nothing', async () => {
    const { promptrun } = machine({ 'sum.prompt': SUM, 'in.yaml': 'count: 3\nwho: [Ada, 1.50]\n' });
    const { stdout } = await promptrun([
      'prompts',
      'render',
      'sum.prompt',
      '--inputs',
      'in.yaml',
      '-i',
      'who=Ada',
    ]);
    expect(stdout).toBe('user:\n3 for Ada\n');
    expect((await promptrun(['prompts', 'get', 'sum'])).exitCode).toBe(4);
  });

  it('has the form of the specification with --json', async () => {
    const { promptrun } = machine();
    const { stdout } = await promptrun(['prompts', 'render', 'hello', '-i', 'name=Ada', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      messages: [{ role: 'user', content: [{ text: expect.stringContaining('Hello, Ada!') as string }] }],
      input: { schema: expect.objectContaining({ type: 'object' }) as object },
      config: {},
      model: 'echo',
      ext: {},
    });
  });

  it('takes pictures from files and URLs, which it does not fetch', async () => {
    const { promptrun } = machine({ 'a.png': png(1, 1) });
    const image = async (given: string): Promise<unknown> =>
      JSON.parse(
        (
          await promptrun([
            'prompts',
            'render',
            'describe',
            '--image',
            given,
            '--json',
            '--query',
            'messages[0].content[?media].media.url | [0]',
          ])
        ).stdout.replace(/^(.*)\n$/, '"$1"'),
      );
    expect(await image('a.png')).toBe(`data:image/png;base64,${png(1, 1).toString('base64')}`);
    expect(await image('https://nowhere.invalid/b.png')).toBe('https://nowhere.invalid/b.png');
  });

  it('converts the texts of -i to the types of the schema, as a run does', async () => {
    const { promptrun } = machine({ 'sum.prompt': SUM.replace('{{count}}', '{{json count}}') });
    const right = await promptrun(['prompts', 'render', 'sum.prompt', '-i', 'count=3']);
    expect(right.stdout).toBe('user:\n3 for\n');
    const wrong = await promptrun(['prompts', 'render', 'sum.prompt', '-i', 'count=three']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('count')]);
  });

  it('refuses missing and unknown inputs in the words of a run', async () => {
    const { promptrun } = machine({ 'sum.prompt': SUM, 'in.json': '{"count": 3, "extra": 1}' });
    const render = (...flags: string[]): Promise<{ stderr: string; exitCode: number }> =>
      promptrun(['prompts', 'render', 'sum.prompt', ...flags]);
    const missing = await render();
    expect([missing.stderr, missing.exitCode]).toEqual([
      'error: missing input: count (USAGE_ERROR)\nGive it with -i count=…\n',
      2,
    ]);
    expect((await render('-i', 'cuont=3')).stderr).toMatch(
      /^error: the prompt has no input "cuont"; did you mean count\?/u,
    );
    expect((await render('--inputs', 'in.json')).exitCode).toBe(0);
  });
});

describe('on a terminal with colours', () => {
  const options = { terminal: { stdout: true }, env: { FORCE_COLOR: '1', PAGER: 'cat' } };

  it('prompts check colours its words', async () => {
    const { promptrun } = machine({ 'a.prompt': '---\nmodel: echo\n---\n{{a\n' });
    const { stdout } = await promptrun(['prompts', 'check', 'a.prompt'], options);
    expect(stdout).toBe('a.prompt:4:1: \u001b[31mfault:\u001b[39m this tag is never closed\n');
  });

  it('versions diff colours the lines that differ', async () => {
    const { home, promptrun } = machine({ 'sum.prompt': SUM });
    await promptrun(['prompts', 'publish', 'sum.prompt']);
    writeFileSync(path.join(home, 'sum.prompt'), SUM.replace('{{who}}', 'you'));
    const { stdout } = await promptrun(['versions', 'diff', 'sum.prompt'], options);
    expect(stdout).toContain('\u001b[31m- {{count}} for {{who}}\u001b[39m\n');
  });
});

it('versions list of a file that is not published shows how to publish it', async () => {
  const { promptrun } = machine({ 'sum.prompt': SUM });
  const { stderr, exitCode } = await promptrun(['versions', 'list', 'sum.prompt']);
  expect(stderr).toContain(
    'error: nothing is published under the slug of sum.prompt (NOT_FOUND_ERROR)\n' +
      'To publish the file: promptrun prompts publish sum.prompt',
  );
  expect(exitCode).toBe(4);
  await promptrun(['prompts', 'publish', 'sum.prompt']);
  expect((await promptrun(['versions', 'list', 'sum.prompt'])).stdout).toMatch(/latest/u);
});

describe('versions diff', () => {
  it('shows what changed between the latest two, the older first', async () => {
    const { home, promptrun } = machine({ 'sum.prompt': SUM });
    await promptrun(['prompts', 'publish', 'sum.prompt']);
    expect(await promptrun(['versions', 'diff', 'sum'])).toMatchObject({ exitCode: 0, stdout: '' });
    writeFileSync(path.join(home, 'sum.prompt'), SUM.replace('who?', 'name?').replace('{{who}}', '{{name}}'));
    await promptrun(['prompts', 'publish', 'sum.prompt', '--quiet']);
    const { stdout } = await promptrun(['versions', 'diff', 'sum']);
    expect(stdout).toContain('\n- {{count}} for {{who}}\n+ {{count}} for {{name}}\n');
    const json = await promptrun(['versions', 'diff', 'sum', '--query', 'changes[?what==`input`].name']);
    expect(JSON.parse(json.stdout)).toEqual(['who', 'name']);
  });
});

describe('run --model', () => {
  it('runs a prompt with another model, and publishes nothing', async () => {
    const { promptrun } = machine({ 'sum.prompt': SUM });
    const card = await promptrun(['run', 'hello', '-i', 'name=Ada', '-m', 'card']);
    expect(card.stdout).toMatch(/^file:\S+\.png\n$/);
    expect((await promptrun(['run', 'sum.prompt', '-i', 'count=1', '-m', 'card'])).stdout).toMatch(/^file:/);
    expect((await promptrun(['prompts', 'get', 'sum'])).exitCode).toBe(4);
    expect((await promptrun(['run', 'hello', '-i', 'name=Ada'])).stdout).toContain('Hello, Ada!');
  });

  it("lists the models if the model doesn't exist", async () => {
    const { stderr, exitCode } = await machine().promptrun(['run', 'hello', '-i', 'name=Ada', '-m', 'nope']);
    expect([stderr, exitCode]).toEqual([expect.stringMatching(/^error: .*nope/m), 2]);
  });

  it('is refused if another service is configured', async () => {
    const { stderr, exitCode } = await runWithScript([], ['run', 'hello', '-m', 'echo']);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('--profile local'), 2]);
  });
});

it('runs a file that names no model with the setting model, else with echo, and says so', async () => {
  const { promptrun } = machine({
    'bare.prompt': 'Tea.\n',
    'own.prompt': '---\nmodel: echo\n---\nTea.\n',
  });
  const note = 'note: no model named: echo gives the prompt back';
  expect(await promptrun(['run', 'bare.prompt'])).toMatchObject({
    exitCode: 0,
    stdout: 'Tea.\n',
    stderr: expect.stringContaining(note) as string,
  });
  expect((await promptrun(['run', 'own.prompt'])).stderr).not.toContain(note);
  expect((await promptrun(['run', 'bare.prompt', '-m', 'echo'])).stderr).not.toContain(note);
  const hint = 'is set: name a model with -m';
  expect((await promptrun(['run', 'bare.prompt'])).stderr).not.toContain(hint);
  const withKey = { env: { ANTHROPIC_API_KEY: 'key-of-a-test' } };
  const { stderr } = await promptrun(['run', 'bare.prompt'], withKey);
  expect(stderr).toContain(
    'note: ANTHROPIC_API_KEY is set: name a model with -m anthropic/<model>, or for all files: promptrun config set model anthropic/<model>',
  );
  expect((await promptrun(['run', 'own.prompt'], withKey)).stderr).not.toContain(hint);
  await promptrun(['config', 'set', 'model', 'ecko']);
  expect(await promptrun(['run', 'bare.prompt'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(
      /^error: the setting `model`: the model `ecko` does not exist; did you mean echo\? The models are [\w, ]+ \(USAGE_ERROR\)$/mu,
    ) as string,
  });
  await promptrun(['config', 'set', 'model', 'card']);
  const drawn = await promptrun(['run', 'bare.prompt']);
  expect([drawn.stdout, drawn.stderr]).toEqual([
    expect.stringMatching(/\.png\n$/u),
    expect.not.stringContaining(note),
  ]);
  expect((await promptrun(['run', 'own.prompt'])).stdout).toBe('Tea.\n');
  await promptrun(['config', 'set', 'model', 'no-such-model']);
  const missing = await promptrun(['run', 'bare.prompt']);
  expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining('no-such-model')]);
});

describe('reset', () => {
  it('asks, and off a terminal wants --yes', async () => {
    const { home, promptrun } = machine();
    mkdirSync(path.join(home, 'config'));
    writeFileSync(path.join(home, 'config', 'prompts.json'), '{}');
    expect((await promptrun(['reset', 'caches'])).exitCode).toBe(2);
    expect(existsSync(path.join(home, 'config', 'prompts.json'))).toBe(true);
    expect((await promptrun(['reset', 'caches', '--yes'])).exitCode).toBe(0);
    expect(existsSync(path.join(home, 'config', 'prompts.json'))).toBe(false);
  });

  it('clears settings and the journal, even damaged ones, and leaves the local service alone', async () => {
    const { home, promptrun } = machine();
    await promptrun(['run', 'hello', '-i', 'name=Ada']);
    await promptrun(['alias', 'set', 'h', 'hello']);
    writeFileSync(path.join(home, 'config', 'credentials.json'), '{damaged');
    const { stdout } = await promptrun(['reset', 'all', '--yes', '--json']);
    expect(
      (JSON.parse(stdout) as { removed: string[] }).removed.map(file => path.basename(file)).sort(),
    ).toEqual(['config.json', 'credentials.json', 'journal.jsonl']);
    expect((await promptrun(['runs', 'journal'])).stdout).toBe('');
    expect((await promptrun(['runs', 'list', '--query', 'length(@)'])).stdout).toBe('1\n');
  });

  it('refuses a part that does not exist', async () => {
    expect((await machine().promptrun(['reset', 'cache'])).stderr).toContain('did you mean caches?');
  });
});

it('the note about the embedded service is printed once per machine', async () => {
  const { promptrun } = machine();
  const first = await promptrun(['run', 'hello', '-i', 'name=Ada']);
  const second = await promptrun(['run', 'hello', '-i', 'name=Ada']);
  expect([first.stderr, second.stderr]).toEqual([expect.stringContaining('embedded service'), '']);
});

it('config path shows every file and directory with its contents', async () => {
  const { home, promptrun } = machine();
  const env = { HOME: home, XDG_CACHE_HOME: '' };
  const { stdout } = await promptrun(['config', 'path', '--json'], { env });
  const places = JSON.parse(stdout) as { name: string; path: string }[];
  expect(places.map(({ name }) => name)).toEqual([
    'config',
    'credentials',
    'resources',
    'prompts',
    'journal',
    'data',
    'cache',
  ]);
  for (const place of places) expect(place.path.startsWith(home)).toBe(true);
});
