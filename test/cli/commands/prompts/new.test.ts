import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createMachine, GITHUB_PROMPT } from './local-machine.ts';

describe('prompts new', () => {
  it.each([
    [[], "promptrun run sub/tides.prompt -i 'topic=…'"],
    [['--image'], "promptrun run sub/tides.prompt -i 'place=…'"],
  ])(
    '%j writes a valid prompt and its test file, and shows a command that runs it',
    async (flags, command) => {
      const { home, promptrun } = createMachine();
      const { stdout, stderr, exitCode } = await promptrun([
        'prompts',
        'new',
        'sub/tides',
        ...flags,
      ]);

      expect(stdout).toBe('sub/tides.prompt\nsub/tides.test.yaml\n');
      expect(exitCode).toBe(0);
      expect(stderr).toContain(`run it with: ${command}\n`);

      const [, ...argv] = command.replaceAll("'", '').split(' ');
      expect((await promptrun(argv)).exitCode).toBe(0);
      expect(existsSync(path.join(home, 'sub', 'tides.test.yaml'))).toBe(true);
      expect((await promptrun(['prompts', 'check', 'sub/tides.prompt'])).stdout).toBe('');
    },
  );

  it('refuses a name under which no prompt can run', async () => {
    const { promptrun, home } = createMachine();
    const { stderr, exitCode } = await promptrun(['prompts', 'new', 'sub/my tides.prompt']);
    expect(stderr).toMatch(
      /^error: "sub\/my tides\.prompt": the file's name becomes the prompt's slug, /,
    );
    expect(existsSync(path.join(home, 'sub'))).toBe(false);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('says why nothing can be written, without the name of a temporary file', async () => {
    const { promptrun } = createMachine({ 'a.txt': '' });
    expect(await promptrun(['prompts', 'new', 'a.txt/tides'])).toMatchObject({
      exitCode: EXIT.usage,
      stderr:
        "error: a.txt/tides.prompt can't be written: a part of its path is not a directory (USAGE_ERROR)\n",
    });
  });

  it('converts a prompt of GitHub Models into one that renders the same messages', async () => {
    const { promptrun } = createMachine({ 'sum.prompt.yml': GITHUB_PROMPT });
    const { stdout, stderr, exitCode } = await promptrun([
      'prompts',
      'new',
      'sum',
      '--from',
      'sum.prompt.yml',
    ]);

    expect(stdout).toBe('sum.prompt\n');
    expect(exitCode).toBe(0);
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

  it('reports the fault of a file that it cannot convert', async () => {
    const { promptrun, home } = createMachine({
      'a.prompt.yml': 'name: A\nmessages:\n  - role: judge\n    content: x\n',
    });
    const { stderr, exitCode } = await promptrun(['prompts', 'new', 'a', '--from', 'a.prompt.yml']);
    expect(stderr).toBe(
      'error: a.prompt.yml:3: the `role` of a message must be system, user or assistant (USAGE_ERROR)\n',
    );
    expect(exitCode).toBe(EXIT.usage);
    expect(existsSync(path.join(home, 'a.prompt'))).toBe(false);
  });

  it('writes no file if one of them already exists', async () => {
    const { home, promptrun } = createMachine({ 'tides.test.yaml': 'mine' });
    const { stderr, exitCode } = await promptrun(['prompts', 'new', 'tides.prompt']);
    expect(stderr).toMatch(/^error: tides\.test\.yaml already exists/);
    expect(existsSync(path.join(home, 'tides.prompt'))).toBe(false);
    expect(exitCode).toBe(EXIT.usage);
    expect(readFileSync(path.join(home, 'tides.test.yaml'), 'utf8')).toBe('mine');
  });
});
