import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { runWithScript } from '../../../support/run-with-script.ts';
import { createMachine, SUM } from '../prompts/local-machine.ts';

it.each([
  ['title: [a]', 'Both faults: promptrun prompts check a.prompt\n'],
  ['title: [a]\ndescription: [b]', 'All 3 faults: promptrun prompts check a.prompt\n'],
])('says how to see all faults of a file with %j', async (fields, hint) => {
  const { promptrun } = createMachine({ 'a.prompt': `---\nmodel: [c]\n${fields}\n---\na\n` });
  const { stderr, exitCode } = await promptrun(['run', 'a.prompt']);
  expect(stderr).toContain(hint);
  expect(exitCode).toBe(EXIT.usage);
});

describe('a run of a file of another tool', () => {
  it.each(['_a.prompt.yml', 'a (2).prompt.yaml', '_b.md'])(
    'runs a file of any name: %s',
    async file => {
      const text = file.endsWith('.md')
        ? 'hello'
        : 'model: echo\nmessages: [{ role: user, content: hello }]\n';
      const { promptrun } = createMachine({ [file]: text });
      const { stdout, exitCode } = await promptrun(['run', file, '-m', 'echo']);
      expect(stdout).toContain('hello');
      expect(exitCode).toBe(0);
    },
  );

  it.each([
    {
      file: 'a.prompt.yml',
      text: 'model: echo\nmodelParameters: { temperature: 0.5, foo: 3 }\nmessages: [{ role: user, content: a }]\n',
      expectedNotes: ['note: a.prompt.yml:2: the parameter `foo` is unknown: it is not sent'],
    },
    {
      file: 'b.md',
      text: '---\ndescription: b\n---\nSee !`ls`\n',
      expectedNotes: ['note: b.md:4: the command !`ls` is not carried out: it is sent as text'],
    },
    {
      file: 'c.prompt',
      text: '---\nmodel: echo\ninput:\n  schema: Nothing\n---\nc\n',
      expectedNotes: ['note: c.prompt:4: unknown schema `Nothing`'],
    },
    {
      file: 'tools.prompt',
      text: '---\nmodel: echo\ntools: [a]\n---\nd\n',
      expectedNotes: ['note: tools.prompt:3: `tools` has no effect here: no tools are called'],
    },
    { file: 'd.prompt', text: '---\nmodel: echo\nother: 1\n---\nd\n', expectedNotes: [] },
  ])('names each field that has no effect, once: $file', async ({ file, text, expectedNotes }) => {
    const { promptrun } = createMachine({ [file]: text });
    const { exitCode, stderr } = await promptrun(['run', file, '-m', 'echo']);
    const notes = stderr.split('\n').filter(line => line.startsWith(`note: ${file}`));
    expect(notes).toEqual(expectedNotes.map(note => expect.stringContaining(note) as string));
    expect(exitCode).toBe(0);
  });
});

describe('run --model', () => {
  it('runs a prompt of the service with another model, for this run only', async () => {
    const { promptrun } = createMachine();
    const card = await promptrun(['run', 'hello', '-i', 'name=Ada', '-m', 'card']);
    expect(card.stdout).toMatch(/^file:\S+\.png\n$/);
    expect((await promptrun(['run', 'hello', '-i', 'name=Ada'])).stdout).toContain('Hello, Ada!');
  });

  it('runs a file with another model, and publishes nothing', async () => {
    const { promptrun } = createMachine({ 'sum.prompt': SUM });
    const { stdout } = await promptrun(['run', 'sum.prompt', '-i', 'count=1', '-m', 'card']);
    expect(stdout).toMatch(/^file:\S+\.png\n$/);
    expect((await promptrun(['prompts', 'get', 'sum'])).exitCode).toBe(EXIT.notFound);
  });

  it("refuses a model that doesn't exist, and names it", async () => {
    const { stderr, exitCode } = await createMachine().promptrun([
      'run',
      'hello',
      '-i',
      'name=Ada',
      '-m',
      'nope',
    ]);
    expect(stderr).toMatch(/^error: .*nope/m);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('refuses --model if another service is configured', async () => {
    const { stderr, exitCode } = await runWithScript([], ['run', 'hello', '-m', 'echo']);
    expect(stderr).toContain('--profile local');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('the model of a file that names none', () => {
  const ECHO_NOTE = 'note: no model named: echo gives the prompt back';
  const KEY_NOTE =
    'note: ANTHROPIC_API_KEY is set: name a model with -m anthropic/<model>, or for all files: promptrun config set model anthropic/<model>';
  const WITH_KEY = { env: { ANTHROPIC_API_KEY: 'key-of-a-test' } };

  const createTeaMachine = (): ReturnType<typeof createMachine> =>
    createMachine({
      'bare.prompt': 'Tea.\n',
      'own.prompt': '---\nmodel: echo\n---\nTea.\n',
    });

  it('is echo by default, as a note says', async () => {
    const { exitCode, stdout, stderr } = await createTeaMachine().promptrun(['run', 'bare.prompt']);
    expect(stdout).toBe('Tea.\n');
    expect(stderr).toContain(ECHO_NOTE);
    expect(stderr).not.toContain('is set: name a model with -m');
    expect(exitCode).toBe(EXIT.ok);
  });

  it.each([
    { name: 'the file names a model', argv: ['run', 'own.prompt'] },
    { name: '--model names one', argv: ['run', 'bare.prompt', '-m', 'echo'] },
  ])('is not mentioned if $name', async ({ argv }) => {
    const { stdout, stderr } = await createTeaMachine().promptrun(argv);
    expect(stdout).toBe('Tea.\n');
    expect(stderr).not.toContain(ECHO_NOTE);
  });

  it('could be one of a provider whose key is set, as a note says', async () => {
    const { stderr } = await createTeaMachine().promptrun(['run', 'bare.prompt'], WITH_KEY);
    expect(stderr).toContain(KEY_NOTE);
  });

  it('is not proposed for a file that names its own', async () => {
    const { stdout, stderr } = await createTeaMachine().promptrun(['run', 'own.prompt'], WITH_KEY);
    expect(stdout).toBe('Tea.\n');
    expect(stderr).not.toContain('ANTHROPIC_API_KEY');
  });

  it('is that of the setting, without a note', async () => {
    const { promptrun } = createTeaMachine();
    await promptrun(['config', 'set', 'model', 'card']);
    const { stdout, stderr } = await promptrun(['run', 'bare.prompt']);
    expect(stdout).toMatch(/\.png\n$/u);
    expect(stderr).not.toContain(ECHO_NOTE);
  });

  it('is that of the setting only for files that name none', async () => {
    const { promptrun } = createTeaMachine();
    await promptrun(['config', 'set', 'model', 'card']);
    expect((await promptrun(['run', 'own.prompt'])).stdout).toBe('Tea.\n');
  });

  it('is refused with the name of the setting if it does not exist', async () => {
    const { promptrun } = createTeaMachine();
    await promptrun(['config', 'set', 'model', 'no-such-model']);
    const { exitCode, stderr } = await promptrun(['run', 'bare.prompt']);
    expect(stderr).toContain(
      'error: the setting `model`: the model `no-such-model` does not exist',
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused with the name that was probably meant, and all models', async () => {
    const { promptrun } = createTeaMachine();
    await promptrun(['config', 'set', 'model', 'ecko']);
    const { stderr } = await promptrun(['run', 'bare.prompt']);
    expect(stderr).toMatch(
      /the model `ecko` does not exist; did you mean echo\? The models are [\w, ]+ \(USAGE_ERROR\)$/mu,
    );
  });
});

it('prints the note about the embedded service once per machine', async () => {
  const { promptrun } = createMachine();
  const first = await promptrun(['run', 'hello', '-i', 'name=Ada']);
  const second = await promptrun(['run', 'hello', '-i', 'name=Ada']);
  expect([first.stderr, second.stderr]).toEqual([expect.stringContaining('embedded service'), '']);
});
