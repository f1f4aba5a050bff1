import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createMachine, SUM } from './local-machine.ts';

describe('prompts check', () => {
  it('reports a file that is not text, and checks the next one', async () => {
    const { promptrun } = createMachine({
      'bytes.prompt': Buffer.from([0x48, 0xe9]),
      'bad.prompt': '{{#if x}}',
    });
    const { stdout, exitCode } = await promptrun([
      'prompts',
      'check',
      'bytes.prompt',
      'bad.prompt',
    ]);
    expect(stdout).toMatch(
      /^bytes\.prompt:1:1: fault: the file is not valid UTF-8 text; save it as UTF-8\nbad\.prompt:1:1: fault: /u,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('reports the faults of the other files if some do not exist', async () => {
    const { promptrun } = createMachine({ 'bad.prompt': '{{#if x}}' });
    const files = ['gone.prompt', 'bad.prompt', 'lost.prompt'];
    const { stdout, stderr, exitCode } = await promptrun(['prompts', 'check', ...files]);

    expect(stdout).toMatch(/^bad\.prompt:1:1: fault: .*\n$/u);
    expect(stderr).toBe(
      'error: prompts check: gone.prompt does not exist (USAGE_ERROR)\nprompts check: lost.prompt does not exist\n',
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('expands wildcards, which the shells of Windows leave as they are', async () => {
    const { promptrun } = createMachine({
      'a.prompt': '{{#if x}}',
      'b.prompt': '{{#if x}}',
      'a.txt': '{{#if x}}',
    });
    const { stdout } = await promptrun(['prompts', 'check', './*.prompt']);

    expect(stdout).toMatch(/^a\.prompt:1:.*\nb\.prompt:1:.*\n$/u);

    const { stderr, exitCode } = await promptrun(['prompts', 'publish', 'c*.prompt']);
    expect(stderr).toContain('c*.prompt does not exist');
    expect(exitCode).toBe(EXIT.usage);
  });

  const FAULTY_PROMPT = '---\nmodel: nowhere\ninput:\n  schema:\n    a: strin\n---\n{{#if a}}x\n';

  it('reports every fault with line and column, and exits with 2', async () => {
    const { promptrun } = createMachine({ 'bad.prompt': FAULTY_PROMPT, 'sum.prompt': SUM });
    const { stdout, stderr, exitCode } = await promptrun([
      'prompts',
      'check',
      'bad.prompt',
      'sum.prompt',
    ]);
    const lines = stdout.trimEnd().split('\n');

    expect(lines.length).toBeGreaterThan(1);

    for (const line of lines) expect(line).toMatch(/^bad\.prompt:\d+:\d+: (fault|note): /);
    expect(stderr).toMatch(/^error: \d+ faults in 1 prompt file \(USAGE_ERROR\)\n$/);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('prints the findings as an array with --json', async () => {
    const { promptrun } = createMachine({ 'bad.prompt': FAULTY_PROMPT });
    const { stdout, exitCode } = await promptrun(['prompts', 'check', 'bad.prompt', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ severity: 'fault', file: 'bad.prompt', line: 5 }),
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('notes an unknown field, and exits with 0', async () => {
    const { promptrun } = createMachine({
      'x.prompt': '---\nmodel: echo\nflavour: mint\n---\nx\n',
    });
    const { stdout, exitCode } = await promptrun(['prompts', 'check', 'x.prompt']);
    expect(stdout).toMatch(/^x\.prompt:3:1: note: .*flavour/);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['missing.prompt', /^error: prompts check: /],
    [
      '.',
      /^error: \. is a directory .*\nCheck its prompt files with: promptrun prompts check \.\/\*\.prompt\n/,
    ],
  ])('refuses %s', async (file, message) => {
    const { exitCode, stderr } = await createMachine().promptrun(['prompts', 'check', file]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('reports an unknown model as a fault only with --models', async () => {
    const { promptrun } = createMachine({ 'x.prompt': '---\nmodel: nowhere/x\n---\nx\n' });
    const lenient = await promptrun(['prompts', 'check', 'x.prompt']);

    expect(lenient.stdout).toMatch(/^x\.prompt:2:8: note: /);
    expect(lenient.exitCode).toBe(0);

    const strict = await promptrun(['prompts', 'check', 'x.prompt', '--models']);
    expect(strict.stdout).toMatch(/^x\.prompt:2:8: fault: /);
    expect(strict.exitCode).toBe(EXIT.usage);
  });

  it('prints the schema of the front matter with --print-schema', async () => {
    const { stdout } = await createMachine().promptrun(['prompts', 'check', '--print-schema']);
    expect(JSON.parse(stdout)).toMatchObject({ properties: { model: { type: 'string' } } });
  });
});
