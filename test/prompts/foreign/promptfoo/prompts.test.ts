import { describe, expect, it } from 'vitest';
import { hasLinks } from '../../../support/system.ts';
import {
  type ConvertOptions,
  convert,
  noteLines,
  PROVIDERS,
  renderMessages,
} from './convert-configuration.ts';

describe('prompts of promptfoo', () => {
  it.each<[string, string, ConvertOptions, unknown]>([
    [
      'inline',
      'prompts: ["Say {{a}} {{ b }} {\\"c\\": {{a}}}"]',
      {},
      [['user', 'Say A B {"c": A}']],
    ],
    [
      'a chat as JSON',
      `prompts: ['[{"role": "system", "content": "S {{a}}"}, {"role": "User", "content": "{{b}}"}]']`,
      {},
      [
        ['system', 'S A'],
        ['user', 'B'],
      ],
    ],
    ['a path', 'prompts: p.txt', { files: { 'p.txt': ' From {{a}}\n' } }, [['user', 'From A']]],
    [
      'a pattern, which matches names that macOS lists with separate accents',
      'prompts: file://gr\u00fc*.txt',
      { files: { 'gru\u0308n.txt': 'From {{a}}\n' } },
      [['user', 'From A']],
    ],
    [
      'the second of a file',
      'prompts: [{raw: one}, {id: "file://p.txt", label: x}]',
      { files: { 'p.txt': 'two\n---\n\nthree {{b}}\n' }, promptNumber: 3 },
      [['user', 'three B']],
    ],
    [
      'a chat in a file',
      'prompts: file://sub/p.yaml',
      { files: { 'sub/p.yaml': '- role: assistant\n  content: "{{a}}"\n' } },
      [['model', 'A']],
    ],
  ])('are converted: %s', async (_, prompts, options, messages) => {
    expect(
      renderMessages(await convert(`${prompts}\n${PROVIDERS}`, options), { a: 'A', b: 'B' }),
    ).toEqual(messages);
  });

  it('are read from every file that matches a pattern with alternatives', async () => {
    const files = { 'p1.txt': 'one', 'q.txt': 'two', 'p.txt': 'three' };
    const text = `prompts: 'file://{p?,q}.txt'\n${PROVIDERS}`;
    expect((await convert(text, { files })).promptCount).toBe(2);
    expect(renderMessages(await convert(text, { files }))).toEqual([['user', 'one']]);
  });

  it('keep the spaces and line ends around them', async () => {
    const readTemplate = async (prompt: string): Promise<string> => {
      const text = JSON.stringify({
        prompts: [prompt],
        providers: ['echo'],
        tests: [{ vars: { q: '' } }],
      });
      return (await convert(text, { isForTest: true })).promptText.split('---\n')[2] ?? '';
    };

    expect(await readTemplate('a {{q}}\n\n')).toBe('a {{q}}\n\n{{log ""}}\n');
    expect(await readTemplate(' b')).toBe('{{log ""}} b\n');
    expect(await readTemplate(' ')).toBe('{{log ""}} {{log ""}}\n');
    expect(await readTemplate('c')).toBe('c\n');
  });

  it('are read from a file as promptfoo reads it', async () => {
    const read = async (
      file: string,
      content: string,
      promptNumber = 1,
    ): Promise<string | undefined> => {
      const text = `{"prompts": ["file://${file}"], "providers": ["echo"], "tests": [{"vars": {"q": ""}}]}`;
      const converted = await convert(text, {
        isForTest: true,
        files: { [file]: content },
        promptNumber,
      });
      const [fault] = converted.notes.filter(({ isHarmless }) => !isHarmless);
      return fault?.message ?? converted.template?.text ?? converted.promptText.split('---\n')[2];
    };

    expect(await read('p.md', ' a {{q}}\n\n')).toBe('{{log ""}} a {{q}}\n\n{{log ""}}\n');
    expect(await read('p.txt', 'a\n  ---\nb\n', 2)).toBe('b\n');
    expect(await read('p.jsonl', '"a"\n\n"b"\n', 2)).toBe('"b"\n');
    expect(await read('p.yaml', 'text: [hi]')).toBe('{\n  "text": [\n    "hi"\n  ]\n}\n');
    expect(await read('p.json', '{"text": "{{q}}"}')).toBe('{"text":"{{q}}"}');
    expect(await read('p.csv', 'prompt,label\na,b\n')).toBe('a table of prompts has no equivalent');
  });

  it('are the same if git gave every file the line ends of Windows', async () => {
    const config = `prompts: [file://p.txt, file://p.jsonl]
${PROVIDERS}tests:
  - file://t.csv
  - vars: { a: file://a.txt }
    assert: [{ type: equals, value: file://a.txt }]
`;

    const files = {
      'p.txt': 'one {{a}}\nline\n---\ntwo {{a}}\nlines\n',
      'p.jsonl': '[{"role": "user", "content": "{{a}}"}]\n"b {{a}}"\n',
      't.csv': 'a,__expected\n"x\ny",contains:x\n',
      'a.txt': 'green\ntea\n',
    };

    const withCrlf = (text: string): string => text.replaceAll('\n', '\r\n');
    const onWindows = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, withCrlf(text)]),
    );
    for (const promptNumber of [1, 2, 3, 4]) {
      const converted = await convert(config, { files, promptNumber });
      expect(await convert(withCrlf(config), { files: onWindows, promptNumber })).toEqual(
        converted,
      );
      expect(renderMessages(converted, { a: 'A' })).toHaveLength(1);
    }
  });

  it('are asked once if texts or names of files repeat, as promptfoo asks them', async () => {
    const files = { 'p.txt': 'a {{b}}' };
    const text =
      'prompts: ["a {{b}}", "a {{b}}", {raw: "a {{b}}", label: l}, {raw: "a {{b}}", label: l}, file://p.txt, file://./p.txt]\n';
    expect((await convert(text + PROVIDERS, { files })).promptCount).toBe(4);
  });

  it('may have blocks that test a variable, whose lines stay as promptfoo leaves them', async () => {
    const prompt = [
      'R:',
      '{% if traits %}T {{traits}}',
      '',
      '{% else %}E{% endif %}',
      '{% if source %}',
      '## {{source}}',
      '{% endif %}',
      'A {# note #}{not}',
      '  {%- if not traits -%}',
      `  N {% if mode == 'x' %}X{% elif mode == "y" %}Y{%else%}Z{% endif %}{% elif source != 'src' %}Q{% endif -%}`,
      ' end }',
    ].join('\n');

    const tests = '[{vars: {traits: T1, source: src, mode: x}}]';
    const text = `prompts: [${JSON.stringify(prompt)}]\n${PROVIDERS}tests: ${tests}\n`;
    const converted = await convert(text, { isForTest: true });

    expect(noteLines(converted)).toEqual([]);

    const renderWith = (traits: string, source: string, mode: string): unknown =>
      renderMessages(converted, { traits, source, mode });
    expect(renderWith('', 'src', 'x')).toEqual([['user', 'R:\nE\n\n## src\n\nA {not}N Xend }']]);
    expect(renderWith('T1', '', 'y')).toEqual([['user', 'R:\nT T1\n\n\n\nA {not}Qend }']]);
    expect(renderWith('', '5', '')).toEqual([['user', 'R:\nE\n\n## 5\n\nA {not}N Zend }']]);
  });

  it('may hold variables that `dump` writes as JSON', async () => {
    const chat = `prompts: ['[{"role": "system", "content": {{ s | dump }}}, {"role": "user", "content": {{u|dump|safe}}}]']`;
    const text = `${chat}\n${PROVIDERS}tests: [{vars: {s: S, u: U}}]\n`;
    const converted = await convert(text, { isForTest: true });
    expect([noteLines(converted), renderMessages(converted, { s: 'a "b"\n', u: 'U' })]).toEqual([
      [],
      [
        ['system', 'a "b"\n'],
        ['user', 'U'],
      ],
    ]);
  });

  it.each([
    ['{% if a %}x{% endif %}', '[{vars: {a: false}}]'],
    ['{% if a == "true" %}x{% endif %}', '[{vars: {a: true}}]'],
    ['{% if a == "5.0" %}x{% endif %}', '[{vars: {a: 5}}]'],
    ['{% if a != "" %}x{% endif %}', '[{vars: {a: x}}, {vars: {b: x}}]'],
    ['{% if true %}x{% endif %}', '[{vars: {a: x}}]'],
    ['{% for b in a %}x{% endfor %}', '[{vars: {a: x}}]'],
    ['[{"role": "user", "content": {{ a | dump }}}]', '[{vars: {a: 5}}]'],
    ['[{"role": "user", "content": {{ a | dump }}}]', '[{vars: {b: x}}]'],
    ['{{a}}', '[{vars: {a: "{{ b | upper }}", b: B}}, {vars: {a: x}}]'],
    ['{{a}}', '[{vars: {a: "{% for i in b %}{{ i }}{% endfor %}", b: B}}]'],
    ['{{a}}', '[{vars: {a: "{% raw %}{{ b | upper }}{% endraw %}", b: B}}]'],
    ['{{a}}', '[{vars: {a: x}, options: {storeOutputAs: c}}]'],
  ])(
    'stay templates of Nunjucks if the variables decide what is sent: %s with %s',
    async (prompt, tests) => {
      const text = `prompts: ['${prompt}']\n${PROVIDERS}tests: ${tests}\n`;
      const converted = await convert(text, { isForTest: true });
      expect([noteLines(converted), converted.template?.text]).toEqual([[], prompt]);
    },
  );

  it('are refused if a template reads the environment', async () => {
    const text = `prompts: ['{{ env.NAME | upper }}']\n${PROVIDERS}tests: [{vars: {a: x}}]\n`;
    expect(noteLines(await convert(text, { isForTest: true }))).toEqual([
      expect.stringMatching(/^in\/promptfooconfig\.yaml:1: only `\{\{name\}\}`/),
    ]);
  });

  it('may compare variables with texts of numbers and booleans', async () => {
    const prompt = `'{% if a == "5" %}five{% elif a == "true" %}true{% else %}else{% endif %}'`;
    const text = `prompts: [${prompt}]\n${PROVIDERS}tests: [{vars: {a: 5}}, {vars: {a: "true"}}, {vars: {b: x}}]\n`;
    expect(noteLines(await convert(text, { isForTest: true }))).toEqual([]);
  });

  it.each([
    ['"system: be kind\\nuser: {{a}}"', 'Hi', 'anthropic:messages:claude-sonnet-4-6', 1],
    ['"About:\\n{{a}}"', '"Hi\\nassistant: Hello"', 'anthropic:claude-sonnet-4-6', 1],
    ['"Say {{a}}"', '"user: Hi"', 'anthropic:claude-sonnet-4-6', 0],
    ['"user: {{a}}"', 'Hi', 'openai:gpt-4o', 0],
    [
      `'[{"role": "user", "content": "Say\\nuser: {{a}}"}]'`,
      'Hi',
      'anthropic:claude-sonnet-4-6',
      0,
    ],
  ])(
    'are noted if promptfoo splits their lines into messages for Claude: %s with %s for %s',
    async (prompt, a, id, count) => {
      const text = `prompts: [${prompt}]\nproviders: ['${id}']\ntests: [{ vars: { a: ${a} } }]\n`;
      const note =
        'in/promptfooconfig.yaml:1: a line such as `user: …` in a text for Claude has no equivalent';
      expect(noteLines(await convert(text, { isForTest: true }))).toEqual(
        count === 1 ? [note] : [],
      );
    },
  );

  it('are converted one at a time, with a note that there are others', async () => {
    expect(noteLines(await convert(`prompts: [a, b]\n${PROVIDERS}`))).toEqual([
      'in/promptfooconfig.yaml:1: there are 2 prompts, and this is the first: --prompt <n> converts another',
    ]);
  });

  it.each<[string, ConvertOptions, RegExp]>([
    [
      'prompts: [file://p.py]',
      { files: { 'p.py': '' } },
      /^in\/promptfooconfig\.yaml:1: the prompt .* is a program/,
    ],
    ['prompts: [file://p.py:fn]', {}, /is a program/],
    [
      'prompts:\n  - "a {{ b | upper }}"',
      {},
      /^in\/promptfooconfig\.yaml:2: only `\{\{name\}\}` and/,
    ],
    ['prompts: ["{% if a %}x{% endif %}"]', {}, /only `\{\{name\}\}`/],
    ['prompts: file://p.txt', { files: { 'p.txt': 'one\n{{ a.b }}' } }, /^in[\\/]p\.txt:2: only/],
    ['prompts: [a]', { promptNumber: 2 }, /there are 1 prompts, and no prompt 2/],
    ...(hasLinks
      ? ([
          [
            'prompts: file://link.txt',
            {},
            /^in\/promptfooconfig\.yaml:1: file:\/\/link\.txt lies outside the folder/,
          ],
        ] as [string, ConvertOptions, RegExp][])
      : []),
    ['prompts: file://../outside.txt', {}, /lies outside the folder/],
    ['prompts: file://../*.none', {}, /lies outside the folder/],
    ['prompts: file://none.txt', {}, /doesn't exist/],
    ['prompts: file://wide.txt', {}, /file:\/\/wide\.txt is UTF-16 text/],
    ['prompts: file://sub', {}, /is not a file/],
  ])('are refused if a prompt file cannot express them: %s', async (prompts, options, message) =>
    expect(convert(`${prompts}\n${PROVIDERS}`, options)).rejects.toThrow(message),
  );

  it.runIf(hasLinks)('may lie outside the folder if that is allowed', async () => {
    const config = `prompts: file://link.txt\n${PROVIDERS}`;
    expect(renderMessages(await convert(config, { allowOutside: true }), { a: '1' })).toEqual([
      ['user', 'secret 1'],
    ]);
  });
});
