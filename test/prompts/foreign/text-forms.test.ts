import { describe, expect, it, test } from 'vitest';
import { findingsIn, readAs, readConverted, renderConverted, renderForeign } from './read-as.ts';

const readInputs = (file: string, text: string) =>
  readAs(file, text).textInputs.map(({ key, required }) => (required ? key : `${key}?`));

describe('a Markdown command', () => {
  const COMMAND = `---
description: Mend an issue
argument-hint: [number] [place]
allowed-tools: Bash(git status:*)
model: openai/gpt-6-luna
---

Mend $1 in $2, that is $ARGUMENTS. Not $10, not $PATH, not {{x}}.
`;

  it('fills its arguments from one input, split as a shell splits it', () => {
    expect(readInputs('fix.md', COMMAND)).toEqual(['arguments']);
    expect(renderForeign('fix.md', COMMAND, { arguments: `12 "the  attic" it\\'s` })).toEqual([
      `user: Mend 12 in the  attic, that is 12 "the  attic" it\\'s. Not $10, not $PATH, not {{x}}.`,
    ]);
  });

  it('renders the same messages once it is converted', async () => {
    const inputs = { arguments: "'a b' c" };
    expect(await renderConverted('fix.md', COMMAND, inputs)).toEqual(
      renderForeign('fix.md', COMMAND, inputs),
    );
  });

  it('keeps its description and model, although YAML reads its hint otherwise', () => {
    expect(readAs('fix.md', COMMAND)).toMatchObject({
      slug: 'fix',
      description: 'Mend an issue',
      model: 'openai/gpt-6-luna',
    });
    expect(readAs('x.md', '---\ndescription: "a"\nmodel: inherit\n---\nhi').namesModel).toBe(false);
  });

  it('leaves a missing argument empty, and asks for the input', () => {
    expect(renderForeign('a.md', 'One $1, two $2.', { arguments: 'x' })).toEqual([
      'user: One x, two .',
    ]);
    expect(() => renderForeign('a.md', 'One $1.')).toThrow('arguments');
  });

  it('appends arguments to a text that places none, as Claude Code does', async () => {
    const text = '---\ndescription: x\n---\nMend it: $PATH\n';
    expect(readInputs('a.md', text)).toEqual(['arguments?']);
    expect(renderForeign('a.md', text)).toEqual(['user: Mend it: $PATH']);
    expect(renderForeign('a.md', text, { arguments: 'a "b"' })).toEqual([
      'user: Mend it: $PATH\n\nARGUMENTS: a "b"',
    ]);
    expect(await renderConverted('a.md', text)).toEqual(['user: Mend it: $PATH']);
  });

  it.each([
    ['$0 and $1 of $ARGUMENTS', 'a and b of a b'],
    ['$ARGUMENTS[1], $1', 'b, b'],
  ])('counts from 0 as Claude Code does: %s', (text, answer) => {
    expect(renderForeign('a.md', text, { arguments: 'a b' })).toEqual([`user: ${answer}`]);
  });

  it('fills the arguments that its front matter names', () => {
    const text =
      '---\ndescription: x\narguments: [issue, issue-kind]\n---\n$issue-kind $issue $issues $1';
    expect(readInputs('a.md', text).toSorted()).toEqual(['arguments', 'issue', 'issue-kind']);
    const inputs = { issue: 'I', 'issue-kind': 'K', arguments: 'a b' };
    expect(renderForeign('a.md', text, inputs)).toEqual(['user: K I $issues b']);
  });

  it('reports what it does not carry out, with its line, and sends it as text', () => {
    const text =
      '---\ndescription: x\n---\n\nSee !`git status`\nand @src/main.ts, mail a@b.example.';
    expect(findingsIn('a.md', text)).toEqual([
      'note 5: the command !`git status` is not carried out: it is sent as text',
      'note 6: the file @src/main.ts is not read: its name is sent as text',
    ]);
    expect(renderForeign('a.md', text)).toEqual([
      'user: See !`git status`\nand @src/main.ts, mail a@b.example.',
    ]);
  });
});

test('a prompt file needs no conversion', async () => {
  await expect(readConverted('a.prompt', '---\nmodel: echo\n---\nHi')).rejects.toThrow(
    'a.prompt:1: this is a prompt file already',
  );
});

describe('a text', () => {
  it.each(['a.md', 'a.txt'])('is a fault if it is empty: %s', file => {
    const fault = 'fault 1: the prompt has no text: write one in this file';
    expect(findingsIn(file, '\uFEFF \n')).toEqual([fault]);
    expect(findingsIn('a.md', '---\ndescription: x\n---\n')).toEqual([fault]);
  });

  it.each([
    ['a.md', 'Say\n\0'],
    ['a.md', '---\ndescription: x\n---\0'],
    ['roles/a.md', 'You\n\0 translate'],
    ['system.md', 'You\n\0 translate'],
    ['a.yaml', 'system: x\nprompt: \0'],
  ])('names the character NUL: %s, %j', (file, text) => {
    expect(findingsIn(file, text)).toEqual([
      expect.stringMatching(
        /^fault [23]: the character NUL \(U\+0000\) can't be part of a prompt: remove it/u,
      ),
    ]);
  });
});

describe('a role of aichat', () => {
  it('is the system part, and the input is the message', () => {
    const role = '---\nmodel: openai:gpt-6-luna\ntemperature: 0.2\ntop_p: 0.9\n---\nYou translate.';
    expect(renderForeign('r.md', role, { input: 'Guten Tag' })).toEqual([
      'system: You translate.',
      'user: Guten Tag',
    ]);
    expect(readAs('r.md', role)).toMatchObject({
      model: 'openai/gpt-6-luna',
      config: { temperature: 0.2, topP: 0.9 },
    });
  });

  it.each([
    ['temperature: hot', 'temperature'],
    ['top_p: hot', 'topP'],
    ['top_p: 2', 'topP'],
  ])('has a fault if its setting is %s', (setting, key) => {
    expect(findingsIn('r.md', `---\nmodel: openai:gpt-4.1\n${setting}\n---\nHi`)).toEqual([
      expect.stringMatching(new RegExp(`\`${key}\` must be a number from 0 to`)),
    ]);
  });

  it('is whatever lies in a folder of roles', () => {
    const claude = '---\nmodel: claude:claude-haiku-4-5\n---\nSay';
    expect(readAs('roles/r.md', claude).model).toBe('anthropic/claude-haiku-4-5');

    const role = '---\nmodel: openai:gpt-6-luna\n---\nSay $1 {{x}}';
    expect(renderForeign('roles/r.md', role, { input: 'I' })).toEqual([
      'system: Say $1 {{x}}',
      'user: I',
    ]);
    expect(renderForeign('other/r.md', role, { arguments: 'I' })).toEqual(['user: Say I {{x}}']);
  });

  it('puts the input at its placeholder', () => {
    expect(
      renderForeign('e.md', 'Turn __INPUT__ into an emoji: __INPUT__', { input: 'rain' }),
    ).toEqual(['user: Turn rain into an emoji: rain']);
  });

  it('makes turns of its examples', () => {
    const role =
      'Answer in Latin.\n\n### INPUT:\nhello\n\n### OUTPUT:\nsalve\n### INPUT: bye\n### OUTPUT: vale';
    const messages = [
      'system: Answer in Latin.',
      'user: hello',
      'model: salve',
      'user: bye',
      'model: vale',
      'user: Q',
    ];
    expect(renderForeign('r.md', role, { input: 'Q' })).toEqual(messages);
    expect(
      renderForeign('r.md', role.replace('### OUTPUT: vale', ''), { input: 'Q' }),
    ).toHaveLength(2);
  });

  it('reads the marks of its examples in turn, as aichat does', () => {
    const role =
      'Rules\n### OUTPUT: none\n### INPUT:\na\n### OUTPUT:\nb ### OUTPUT: c\n### INPUT:\nd\n### OUTPUT:\n\ne';
    expect(renderForeign('r.md', role, { input: 'Q' })).toEqual([
      'system: Rules\n### OUTPUT: none',
      'user: a',
      'model: b ### OUTPUT: c',
      'user: d',
      'model: e',
      'user: Q',
    ]);

    const unfinishedRole = 'x\n### INPUT:\na\n### OUTPUT:\nb\n### INPUT:\nc';
    expect(renderForeign('roles/r.md', unfinishedRole, { input: 'Q' })).toEqual([
      `system: ${unfinishedRole}`,
      'user: Q',
    ]);
  });

  it('may have blank lines before its front matter', () => {
    const role =
      '\n \n---\nmodel: openai:gpt-4o\ntemperature: 0.5\n---\n\nBe brief on {{__os__}}\n';
    expect(readAs('r.md', role)).toMatchObject({
      model: 'openai/gpt-4o',
      config: { temperature: 0.5 },
    });
    expect(renderForeign('r.md', role, { input: 'Q' })).toEqual([
      'system: Be brief on {{__os__}}',
      'user: Q',
    ]);
    expect(findingsIn('r.md', role)).toEqual([expect.stringMatching(/^note 8: /u)]);
  });

  it('says which variables are not filled', () => {
    expect(findingsIn('roles/r.md', 'Hi\non {{__os__}}')).toEqual([
      'note 2: the variable {{__os__}} is not filled: it is sent as text',
    ]);
  });

  it('says that tools are not called', () => {
    expect(findingsIn('r.md', '---\ntemperature: 0\nuse_tools: all\n---\nHi')).toEqual([
      'note 1: `use_tools` has no effect here: no tools are called',
    ]);
  });
});

describe("fabric's pattern", () => {
  it('has the name of its folder, variables, and the input as the message', () => {
    const text = '# IDENTITY\n\nYou sum up for {{audience}}.\n\n# INPUT\n\nINPUT:\n';
    const pattern = '/patterns/sum up/system.md';
    expect(readAs(pattern, text).slug).toBe('sum-up');
    expect(renderForeign(pattern, text, { audience: 'children', input: 'I' })).toEqual([
      'system: # IDENTITY\n\nYou sum up for children.\n\n# INPUT\n\nINPUT:',
      'user: I',
    ]);
  });

  it('says which plugins are not carried out', () => {
    const text = 'Today is {{plugin:datetime:now}}.\nUse {{ext:word:count:{{input}}}} for {{who}}.';
    expect(findingsIn('p/system.md', text)).toEqual([
      'note 1: {{plugin:datetime:now}} is not carried out: it is sent as text',
      'note 2: {{ext:word:count: is not carried out: it is sent as text',
    ]);
  });

  it('begins the message with user.md', () => {
    const siblings = { 'user.md': 'CONTENT:\n' };
    expect(renderForeign('p/system.md', 'Sum up.', { input: 'I' }, siblings)).toEqual([
      'system: Sum up.',
      'user: CONTENT:\nI',
    ]);
    expect(renderForeign('p/system.md', 'Sum up.', { input: 'I' }, { 'user.md': ' \n' })).toEqual([
      'system: Sum up.',
      'user: I',
    ]);
  });

  it('puts the input at its placeholder', () => {
    expect(renderForeign('p/system.md', 'Sum up {{input}}.', { input: 'I' })).toEqual([
      'system: Sum up I.',
    ]);
    expect(
      renderForeign('p/system.md', 'Sum up.', { input: 'I' }, { 'user.md': 'Of {{input}}:\n' }),
    ).toEqual(['system: Sum up.', 'user: Of I:']);
  });
});

describe('any other text', () => {
  it.each(['notes.md', 'notes.txt', 'my notes (2).MD'])('%s instructs for an input', file => {
    const text = '# Be brief\n\n{{#if}} \\{{x}} $x\n';
    expect(readInputs(file, text)).toEqual(['input?']);
    expect(renderForeign(file, text, { input: 'Q' })).toEqual([
      'system: # Be brief\n\n{{#if}} \\{{x}} $x',
      'user: Q',
    ]);
    expect(renderForeign(file, text)).toEqual(['user: # Be brief\n\n{{#if}} \\{{x}} $x']);
  });

  it('keeps a rule that is not front matter', () => {
    expect(renderForeign('a.md', 'One\n\n---\n\nTwo\n---\n')).toEqual([
      'user: One\n\n---\n\nTwo\n---',
    ]);
  });

  it('is not a command by its file name: `$ARGUMENTS` of a text file is text', () => {
    expect(renderForeign('a.txt', 'Say $1 and $ARGUMENTS')).toEqual([
      'user: Say $1 and $ARGUMENTS',
    ]);
  });
});
