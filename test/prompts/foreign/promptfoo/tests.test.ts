import { describe, expect, it } from 'vitest';
import { convert, noteLines, PROVIDERS, parseCases } from './convert-configuration.ts';

/** Expected beside a schema: promptfoo takes no JSON in a code fence. */
const UNFENCED = { not: { matches: '^\\s*```' } };

describe('tests of promptfoo', () => {
  const head = `prompts: ["{{a}} {{b}}"]\n${PROVIDERS}`;

  it('become cases with all inputs, in which variables of variables are filled in', async () => {
    const converted = await convert(
      `${head}defaultTest:
  vars: { b: "B of {{a}}" }
  assert: [{ type: contains, value: "{{c}}!" }]
tests:
  - description: first {{a}}
    vars: { a: 1.50, c: yes }
  - vars: { a: file://t.txt, b: file://y.yaml, c: "" }
  - vars: { a: [x, y], b: [1, 2] }
  - vars: { a: "@at", b: { k: 1 } }
`,
      { files: { 't.txt': '\n text \n', 'y.yaml': 'k: [1]\n' } },
    );
    expect(parseCases(converted)).toEqual([
      { name: 'first 1.5', inputs: { a: '1.5', b: 'B of 1.5' }, expect: [{ contains: 'yes!' }] },
      { name: 'case 2', inputs: { a: 'text', b: '{"k":[1]}' }, expect: [{ contains: '!' }] },
      { name: 'case 3 (1)', inputs: { a: 'x', b: '[1,2]' }, expect: [{ contains: '!' }] },
      { name: 'case 3 (2)', inputs: { a: 'y', b: '[1,2]' }, expect: [{ contains: '!' }] },
      { name: 'case 4', inputs: { a: '@@at', b: '{"k":1}' }, expect: [{ contains: '!' }] },
    ]);
    expect(noteLines(converted)).toEqual([
      'in/promptfooconfig.yaml:10: the variable `b` is a list: it is given as JSON',
      'in/promptfooconfig.yaml:11: the variable `b` is an object: it is given as JSON',
    ]);
  });

  it('come from tables, lists and lines, and from scenarios', async () => {
    const files = {
      't.csv':
        'a,b,__expected,__expected2,__description,__metric\n1,"x, {{a}}",contains:{{a}},not-icontains: z,row,m\n2,,plain,,,\n',
      'q.csv': 'a,b,__expected\n"x, y", "z",equals: w\n',
      's.yaml': '- { config: [{ vars: { a: 3 } }], tests: [{ vars: { b: y } }] }',
      't.json': '[{"vars": {"a": "j"}}]',
      't.jsonl': '{"vars": {"a": "l"}}\n\n{"vars": {"a": "m"}}\n',
    };

    const converted = await convert(
      `${head}tests: [file://t.csv, t.json, file://t.jsonl, file://t.py, q.csv]
scenarios:
  - file://s.yaml
  - config: [{ vars: { a: 1 } }, { vars: { a: 2 } }]
    tests: [{ vars: { b: x }, assert: [{ type: equals, value: "{{a}}{{b}}" }] }]
`,
      { files },
    );

    expect(parseCases(converted)).toEqual([
      {
        name: 'row',
        inputs: { a: '1', b: 'x, 1' },
        expect: [{ contains: '1' }, { not: { icontains: 'z' } }],
      },
      { name: 'case 2', inputs: { a: '2', b: '' }, expect: [{ equals: 'plain' }] },
      { name: 'case 3', inputs: { a: 'j', b: '' } },
      { name: 'case 4', inputs: { a: 'l', b: '' } },
      { name: 'case 5', inputs: { a: 'm', b: '' } },
      { name: 'case 6', inputs: { a: 'x, y', b: ' "z"' }, expect: [{ equals: 'w' }] },
      { name: 'case 7', inputs: { a: '3', b: 'y' } },
      { name: 'case 8', inputs: { a: '1', b: 'x' }, expect: [{ equals: '1x' }] },
      { name: 'case 9', inputs: { a: '2', b: 'x' }, expect: [{ equals: '2x' }] },
    ]);
    expect(noteLines(converted)).toEqual([
      expect.stringMatching(
        /^in\/promptfooconfig\.yaml:3: the tests in file:\/\/t\.py have no equivalent/,
      ),
    ]);
  });

  it.each([
    ['{{ b }} {{who}} {{b}}', 'B {{who}} {{b}}'],
    ['{{who | upper}} {{b | upper}}', '{{who | upper}} {{b | upper}}'],
    ['{{b}}{{b}}{{b}}{{b}}{{b}}{{b}}', 'BBBBBB'],
    ['{{ b | upper }} {{ open', '{{ b | upper }} {{ open'],
    ['two lines {%\n', 'two lines {%'],
    ['# Title {#id}', '# Title {#id}'],
    ['{{a}}', '{{a}}'],
    ['file://cut.txt', '{{ b | upper\n}}'],
  ])('fill in the text of a variable as promptfoo does: %j', async (a, expected) => {
    const tests = JSON.stringify([
      { vars: { a, b: 'B', c: '{{ b | upper }}', d: { e: '{% if b %}' } } },
    ]);
    const files = { 'cut.txt': '{{ b | upper\n}}' };
    const converted = await convert(`${head}tests: ${tests}\n`, { files, isForTest: true });
    expect(parseCases(converted)[0]?.inputs).toMatchObject({ a: expected });
    expect(converted.notes.filter(({ isHarmless }) => isHarmless !== true)).toEqual([]);
  });

  it('are refused if a variable reads the environment, also in a prompt of JSON', async () => {
    const text = (value: string): string =>
      `prompts: ['[{"role": "user", "content": "{{a}}"}]']\n${PROVIDERS}tests:\n  - vars: { a: "${value}", b: B }\n`;
    const withNunjucks = await convert(text('{{ b | upper }}'), { isForTest: true });

    expect([noteLines(withNunjucks), parseCases(withNunjucks)[0]?.inputs]).toEqual([
      [],
      { a: '{{ b | upper }}' },
    ]);

    const withEnvironment = await convert(text("{{ env['X'] | upper }}"), { isForTest: true });
    expect(noteLines(withEnvironment)).toEqual([
      'in/promptfooconfig.yaml:4: a variable with `{{env.…}}` has no equivalent',
    ]);
    expect(parseCases(withEnvironment)).toEqual([]);
  });

  it('are left out, with their line, if an unused variable has Nunjucks that promptfoo cannot read', async () => {
    const text = `prompts: ["{{a}}"]
providers: [echo]
extensions: [file://hooks.js:afterAll, file://hooks.js:beforeAll]
tests:
  - vars: { a: "x {{z}}", z: null }
  - vars: { a: b, other: "{% foo %}" }
  - vars: { a: c, other: "a {{/if}}" }
  - vars: { a: d, other: "{% if a %}{{&a}}{% endif %} {{^a}}" }
`;
    const converted = await convert(text, { isForTest: true });
    expect(parseCases(converted).map(({ inputs }) => inputs)).toEqual([
      { a: 'x null' },
      { a: 'd' },
    ]);
    expect(
      converted.notes
        .filter(({ isHarmless }) => !isHarmless)
        .map(({ line, message }) => [line, message]),
    ).toEqual([
      [3, '`extensions` has no equivalent'],
      [6, "the variable `other` has Nunjucks that promptfoo can't read"],
      [7, "the variable `other` has Nunjucks that promptfoo can't read"],
    ]);
  });

  it('make no case of `defaultTest` alone if all of them are left out', async () => {
    const withoutTests = `${head}defaultTest: { assert: [{ type: contains, value: x }] }\n`;
    expect(parseCases(await convert(withoutTests, { isForTest: true }))).toHaveLength(1);
    const withTestsLeftOut = await convert(`${withoutTests}tests: file://t.js\n`, {
      files: { 't.js': '' },
      isForTest: true,
    });
    expect(withTestsLeftOut.testContent).toBeUndefined();
  });

  it.each([
    ['{ type: equals, value: 5 }', [{ equals: '5' }]],
    ['{ type: equals, value: { a: 1 } }', [{ schema: { const: { a: 1 } } }, UNFENCED]],
    ['{ type: contains-any, value: [x, y] }', [{ any: [{ contains: 'x' }, { contains: 'y' }] }]],
    ['{ type: icontains-all, value: "x, y" }', [{ icontains: 'x' }, { icontains: 'y' }]],
    [
      '{ type: not-contains-any, value: [x, y] }',
      [{ not: { any: [{ contains: 'x' }, { contains: 'y' }] } }],
    ],
    [
      '{ type: not-contains-all, value: [x, y] }',
      [{ any: [{ not: { contains: 'x' } }, { not: { contains: 'y' } }] }],
    ],
    ['{ type: starts-with, value: x }', [{ startsWith: 'x' }]],
    ['{ type: regex, value: "^\\\\d" }', [{ matches: '^\\d' }]],
    ['{ type: is-json }', [{ schema: true }, UNFENCED]],
    ['{ type: is-json, value: { type: object } }', [{ schema: { type: 'object' } }, UNFENCED]],
    ['{ type: is-json, value: file://s.json }', [{ schema: { type: 'array' } }, UNFENCED]],
    ['{ type: contains-json }', [{ containsJson: { type: ['object', 'array'] } }]],
    ['{ type: latency, threshold: 1500 }', [{ seconds: 1.5 }]],
    ['{ type: cost, threshold: 0.01 }', [{ cost: 0.01 }]],
    ['{ type: llm-rubric, value: "is {{a}}" }', [{ rubric: 'is A' }]],
  ])('have assertions that become expectations: %s', async (assertion, expected) => {
    const files = { 's.json': '{"type": "array"}' };
    const converted = await convert(
      `${head}tests: [{ vars: { a: A }, assert: [${assertion}] }]\n`,
      {
        files,
      },
    );
    expect(parseCases(converted)[0]?.expect).toEqual(expected);
  });

  it.each(['{}', '{ description: d }', '{ file: tests/a.yaml }', '{ vars: }'])(
    'are refused if they have no key that promptfoo knows: %s',
    async test => {
      const text = `prompts: [a]\n${PROVIDERS}tests:\n  - ${test}\n`;
      expect(noteLines(await convert(text, { isForTest: true }))).toContainEqual(
        expect.stringMatching(
          /^in\/promptfooconfig\.yaml:4: promptfoo refuses a test with none of `assert`/,
        ),
      );
      expect(noteLines(await convert(text)).join()).not.toContain('refuses');
    },
  );

  it('are converted with a note on each key that has no equivalent, with its line', async () => {
    const converted = await convert(`${head}outputPath: out.json
tests:
  - vars: { a: A }
    threshold: 1
    options: { transform: x, prefix: y }
    assert:
      - { type: javascript, value: "x" }
      - { type: similar, value: x, threshold: 0.8 }
      - { type: contains, value: x, weight: 2, metric: m, transform: t, provider: p }
`);
    expect(noteLines(converted).map(note => note.replace('in/promptfooconfig.yaml:', ''))).toEqual([
      '6: `threshold` of a test has no equivalent',
      "7: `prefix` of a test's options has no equivalent",
      '10: the assertion `similar` has no equivalent',
      '11: `weight` of an assertion has no equivalent',
      '11: `provider` of an assertion is a key that promptfoo ignores too',
    ]);
  });
});

describe('variables in files', () => {
  it('are merged from paths and patterns relative to the file of the test', async () => {
    const files = {
      'v_1.yaml': 'a: one\nb: lost',
      'v_2.yaml': 'b: two',
      'sub/t.yaml': `- vars: ../v_*.yaml
- vars: [../v_2.yaml, ../v_1.yaml]
- vars: v_*.yaml
`,
    };

    const text = `prompts: ['{{a}} {{b}}']\n${PROVIDERS}tests: [sub/t.yaml, { vars: file://v_1.yaml }]\n`;
    const converted = await convert(text, { files, isForTest: true });

    // promptfoo asks with the same variables.
    expect(
      parseCases(converted).map(({ inputs }) => Object.values(inputs ?? {}).join(' ')),
    ).toEqual(['one two', 'one lost', ' ', 'one lost']);
    expect(noteLines(converted)).toEqual([
      'in/sub/t.yaml:3: v_*.yaml names no file, and so adds no variables',
    ]);
  });
});
