import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { runWithScript } from '../../../support/run-with-script.ts';
import { createMachine, SUM } from '../prompts/local-machine.ts';

it.each([
  ['title: [a]', 'Both faults: promptrun prompts check a.prompt\n'],
  ['title: [a]\ndescription: [b]', 'All 3 faults: promptrun prompts check a.prompt\n'],
])('says how to see all faults of a faulty file: %j', async (fields, hint) => {
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
    [
      'a.prompt.yml',
      'model: echo\nmodelParameters: { temperature: 0.5, foo: 3 }\nmessages: [{ role: user, content: a }]\n',
      ['note: a.prompt.yml:2: the parameter `foo` is unknown: it is not sent'],
    ],
    [
      'b.md',
      '---\ndescription: b\n---\nSee !`ls`\n',
      ['note: b.md:4: the command !`ls` is not carried out: it is sent as text'],
    ],
    [
      'c.prompt',
      '---\nmodel: echo\ninput:\n  schema: Nothing\n---\nc\n',
      ['note: c.prompt:4: unknown schema `Nothing`'],
    ],
    [
      'tools.prompt',
      '---\nmodel: echo\ntools: [a]\n---\nd\n',
      ['note: tools.prompt:3: `tools` has no effect here: no tools are called'],
    ],
    ['d.prompt', '---\nmodel: echo\nother: 1\n---\nd\n', []],
  ])('names each field that has no effect, once: %s', async (file, text, expectedNotes) => {
    const { promptrun } = createMachine({ [file]: text });
    const { exitCode, stderr } = await promptrun(['run', file, '-m', 'echo']);
    const notes = stderr.split('\n').filter(line => line.startsWith(`note: ${file}`));
    expect(notes).toEqual(expectedNotes.map(note => expect.stringContaining(note) as string));
    expect(exitCode).toBe(0);
  });
});

describe('run --model', () => {
  it('runs a prompt with another model, and publishes nothing', async () => {
    const { promptrun } = createMachine({ 'sum.prompt': SUM });
    const card = await promptrun(['run', 'hello', '-i', 'name=Ada', '-m', 'card']);

    expect(card.stdout).toMatch(/^file:\S+\.png\n$/);
    expect((await promptrun(['run', 'sum.prompt', '-i', 'count=1', '-m', 'card'])).stdout).toMatch(
      /^file:/,
    );
    expect((await promptrun(['prompts', 'get', 'sum'])).exitCode).toBe(EXIT.notFound);
    expect((await promptrun(['run', 'hello', '-i', 'name=Ada'])).stdout).toContain('Hello, Ada!');
  });

  it("lists the models if the model doesn't exist", async () => {
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

it('runs a file without a model with the setting model, or else with echo, and says so', async () => {
  const { promptrun } = createMachine({
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
    exitCode: EXIT.usage,
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

  expect(missing.stderr).toContain('no-such-model');
  expect(missing.exitCode).toBe(EXIT.usage);
});

it('prints the note about the embedded service once per machine', async () => {
  const { promptrun } = createMachine();
  const first = await promptrun(['run', 'hello', '-i', 'name=Ada']);
  const second = await promptrun(['run', 'hello', '-i', 'name=Ada']);
  expect([first.stderr, second.stderr]).toEqual([expect.stringContaining('embedded service'), '']);
});
