import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import type { CommandOutcome } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';

/** Runs the built command in a folder of these files. */
async function runWithFiles(
  argv: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  const home = createTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  }
  return await runCommandHere(argv, { home });
}

const FAULTY = `---
title: [a]
model: nowhere/x
input:
  schema: { name: strin, count: integer }
  default: { count: many }
output:
  schema: { type: object, properties: { a: { type: strin } } }
flavour: mint
---
{{nmae}} {{#if count}} {{shout name}}
{{> footer}}
{"n": {{count}}}
`;

describe('prompts check', () => {
  it('shows all faults of a file at once, undeclared variables too', async () => {
    const { stdout, stderr, code } = await runWithFiles(['prompts', 'check', 'bad.prompt'], {
      'bad.prompt': FAULTY,
    });
    expect(stdout.trimEnd().split('\n')).toEqual([
      'bad.prompt:2:8: fault: title must be text',
      expect.stringMatching(/^bad\.prompt:3:8: note: the model `nowhere\/x` does not exist/),
      expect.stringMatching(/^bad\.prompt:5:19: fault: `strin` is not a type: /),
      'bad.prompt:6:14: fault: the default of `count` must be of the type integer, not text',
      expect.stringMatching(/^bad\.prompt:8:52: fault: "strin" is not a type of JSON Schema/),
      expect.stringMatching(/^bad\.prompt:9:1: note: `flavour` /),
      'bad.prompt:11:3: fault: `nmae` is not in input.schema: declare it there',
      'bad.prompt:11:10: fault: this block is never closed',
      expect.stringMatching(/^bad\.prompt:11:26: fault: the helper `shout` is not known/),
      expect.stringMatching(/^bad\.prompt:12:1: fault: unknown partial `footer`/),
      expect.stringMatching(
        /^bad\.prompt:13:7: fault: `}}}` ends only `{{{`: .*write {{name~}} }$/,
      ),
    ]);
    expect(stderr).toBe('error: 9 faults in 1 prompt file (USAGE_ERROR)\n');
    expect(code).toBe(EXIT.usage);
  });

  it.each([
    {
      file: 'jinja.prompt',
      text: 'Hi {% if a %}{{ a | upper }}{% endif %}',
      lines: [/1:4: note: .*Jinja/, /1:19: fault: .*filter of Jinja/],
    },
    {
      file: 'page.j2',
      text: '{% for a in b %}{{a}}{% endfor %}',
      lines: [/fault: this is a template of Jinja/],
    },
    {
      file: 'llm.prompt',
      text: "system: Be good\nprompt: 'Say $input'\n",
      lines: [/fault: this is a template of `llm`/],
    },
    {
      file: 'promptfooconfig.yaml',
      text: 'prompts: [a]\nproviders: [echo]\n',
      lines: [/promptfoo.*prompts new .* --from/],
    },
    {
      file: 'yaml.prompt',
      text: '---\ntitle: "a\ninput: [\n b: : :\n c: {\n---\n{{a}} {{b}}\n',
      lines: [/this is not YAML/],
    },
  ])('says what $file is, once', async ({ file, text, lines }) => {
    const { stdout, code } = await runWithFiles(['prompts', 'check', file], { [file]: text });
    expect(stdout.trimEnd().split('\n')).toEqual(
      lines.map(line => expect.stringMatching(line) as string),
    );
    expect(code).toBe(EXIT.usage);
  });

  it('notes a model that is not on this machine, and exits 0', async () => {
    const files = { 'a.prompt': '---\nmodel: somewhere\n---\nx\n' };
    const { stdout, code } = await runWithFiles(['prompts', 'check', 'a.prompt'], files);
    expect(stdout).toMatch(/^a\.prompt:2:8: note: the model `.*` does not exist/);
    expect(code).toBe(0);
    expect((await runWithFiles(['prompts', 'check', '--models', 'a.prompt'], files)).code).toBe(
      EXIT.usage,
    );
  });

  it('gives up on a default whose pattern tries every way', async () => {
    const field = `{ type: string, pattern: "^(a|a)*$" }`;
    const head = `input:\n  schema: { type: object, properties: { x: ${field} } }\n  default: { x: ${'a'.repeat(60)}! }`;
    const { stdout, code } = await runWithFiles(['prompts', 'check', 'a.prompt'], {
      'a.prompt': `---\n${head}\n---\n{{x}}\n`,
    });
    expect(stdout).toMatch(/fault: the default of `x` can't be checked: .* 1 s/);
    expect(code).toBe(EXIT.usage);
  });
});

describe('a prompt file that is run', () => {
  it('is named by its relative path, with the command that shows all of its faults', async () => {
    const { stderr, code } = await runWithFiles(['run', '--quiet', './in/bad.prompt'], {
      'in/bad.prompt': FAULTY,
    });
    const file = path.join('in', 'bad.prompt');
    expect(stderr).toBe(
      `error: ${file}:2: title must be text (USAGE_ERROR)\n` +
        `All 9 faults: promptrun prompts check ${file}\n`,
    );
    expect(code).toBe(EXIT.usage);
  });
});

describe('a file of another tool', () => {
  const tests = 'cases: [{ inputs: { input: rain }, expect: { contains: rain } }]\n';
  const files = {
    'haiku.md': 'Write a haiku.',
    'haiku.test.yaml': tests,
    'roles/poet.md': 'You write about __INPUT__.',
    'roles/poet.test.yaml': tests,
    'brief.yaml': 'system: Be brief',
    'brief.test.yaml': tests,
    'sum/system.md': 'Sum up.',
    'sum/user.md': 'TEXT:',
  };

  it.each(['haiku.md', 'roles/poet.md', 'brief.yaml'])(
    'is tested by the file beside it: %s',
    async file => {
      const { stdout, code } = await runWithFiles(['test', file, '-m', 'echo'], files);
      expect(stdout.replace(/ \(.*/u, '')).toBe(
        `passed ${file.replace(/\.\w+$/u, '.test.yaml')}: case 1 [echo]\n1 passed, 0 failed\n`,
      );
      expect(code).toBe(0);
    },
  );

  it('is run', async () => {
    const argv = ['run', 'sum/system.md', '-m', 'echo', '-i', 'input=rain', '--quiet'];
    const { stdout, code } = await runWithFiles(argv, files);
    expect(stdout).toBe('Sum up.\n\nTEXT:\nrain\n');
    expect(code).toBe(0);
  });

  it('is checked', async () => {
    const { code } = await runWithFiles(['prompts', 'check', 'haiku.md', 'brief.yaml'], files);
    expect(code).toBe(0);
  });

  it('is converted', async () => {
    const argv = ['prompts', 'new', 'sum.prompt', '--from', 'sum/system.md'];
    const { stdout, code } = await runWithFiles(argv, files);
    expect(stdout).toBe('sum.prompt\n');
    expect(code).toBe(0);
  });

  it('prints the code block that its template extracts, and streams nothing else', async () => {
    const template = 'prompt: "Say:\\n```\\n$input\\n```\\nDone."\nextract: true\n';
    const argv = ['run', 'e.yaml', '-m', 'echo', '-i', 'input=x', '--quiet'];
    const { stdout, code } = await runWithFiles(argv, { 'e.yaml': template });
    expect(stdout).toBe('x\n');
    expect(code).toBe(0);
  });
});

describe.runIf(process.platform === 'linux')('a partial', () => {
  /** Returns a directory whose prompt includes one partial, and in which no partial is a plain file. */
  function directoryWithPartial(name: string): string {
    const home = createTemporaryDirectory();
    const folder = path.join(home, 'prompts');
    mkdirSync(folder);
    writeFileSync(path.join(home, '_secret.prompt'), 'secret');
    writeFileSync(path.join(folder, 'a.prompt'), `{{> ${name}}}`);
    symlinkSync('/dev/zero', path.join(folder, '_device.prompt'));
    symlinkSync('../_secret.prompt', path.join(folder, '_link.prompt'));
    execFileSync('mkfifo', [path.join(folder, '_pipe.prompt')]);
    return home;
  }

  describe.each(['prompts check', 'run', 'prompts render'])('of a file for %s', command => {
    it.each([
      ['device', ['--allow-outside'], 'is not a file'],
      ['pipe', [], 'is not a file'],
      ['link', [], 'lies outside the folder'],
      ['../secret', [], 'unknown partial `../secret`: partials must be next to'],
    ])('that is a %s is never read', async (name, flags, message) => {
      const argv = [...command.split(' '), 'prompts/a.prompt', ...flags];
      const { stdout, stderr, code } = await runCommandHere(argv, {
        home: directoryWithPartial(name),
      });
      expect(stdout + stderr).toContain(message);
      expect(code).toBe(EXIT.usage);
    });
  });

  it.each([
    ['device', 'lies outside the folder'],
    ['pipe', 'is not a file'],
    ['link', 'lies outside the folder'],
    ['../secret', 'unknown partial `../secret`: partials must be next to'],
  ])('that is a %s is never published', async (name, message) => {
    const argv = ['prompts', 'publish', 'prompts/a.prompt'];
    const { stderr, code } = await runCommandHere(argv, { home: directoryWithPartial(name) });
    expect(stderr).toContain(message);
    expect(code).toBe(EXIT.usage);
  });
});
