import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../../support/project.ts';

describe('an expectation', () => {
  const answer = '{"date":"2026-11-20","items":[{"price":12},{"price":20}],"n":0}';
  const MET = [
    'json: { date: "2026-11-20" }',
    'json: { items: [{ price: 12 }, { price: 20 }] }',
    'jmespath: "items[?price > `10`] | length(@) == `2`"',
    'contains: price',
    'matches: "^\\\\{"',
    'schema: ./schema.json',
    'equals: \'{"date":"2026-11-20","items":[{"price":12},{"price":20}],"n":0}\'',
    'not: { contains: sorry }',
    'not: { json: { date: "2026-11-21" } }',
    'seconds: 600',
    'icontains: PRICE',
    'startsWith: "{"',
    "istartsWith: '{\"DATE'",
    'endsWith: "}"',
    'iendsWith: \'"N":0}\'',
    'containsJson: true',
    'containsJson: { required: [price], properties: { price: { const: 20 } } }',
    'schema: { type: object, required: [date] }',
    'tokens: 100000',
    'any: [{ contains: sorry }, { contains: price }]',
    'any: [{ contains: price, icontains: DATE }]',
    'matches: "[\\\\w-\\\\d]rice"',
    'not: { any: [{ contains: sorry }, { equals: price }] }',
  ];

  const UNMET: readonly { readonly expectation: string; readonly message: string }[] = [
    {
      expectation: 'json: { date: "2026-11-21" }',
      message: 'differs at "/date": expected "2026-11-21", got "2026-11-20"',
    },
    { expectation: 'json: { items: [{ price: 12 }] }', message: 'differs at "/items"' },
    { expectation: 'json: { missing: null }', message: 'differs at "/missing": it is missing' },
    {
      expectation: 'jmespath: "items[?price > `15`] | length(@) == `2`"',
      message: 'returns false',
    },
    { expectation: 'jmespath: "items[?price > `50`]"', message: 'returns []' },
    { expectation: 'contains: sorry', message: 'does not contain "sorry"' },
    { expectation: 'matches: "^\\\\["', message: 'does not match /^\\[/' },
    {
      expectation: 'schema: ./strict.json',
      message: 'does not match ./strict.json at "/items/1/price"',
    },
    { expectation: 'equals: nothing', message: 'is not equal' },
    { expectation: 'icontains: sorry', message: 'does not contain "sorry"' },
    { expectation: 'startsWith: price', message: 'does not begin with "price"' },
    { expectation: 'endsWith: price', message: 'does not end with "price"' },
    {
      expectation: 'containsJson: { type: object, required: [none] }',
      message: 'contains no JSON that matches the schema',
    },
    { expectation: 'schema: { type: array }', message: 'does not match the schema at ""' },
    {
      expectation: 'any: [{ contains: sorry }, { startsWith: x }]',
      message: 'matches none of these: does not contain "sorry"; does not',
    },
    {
      expectation: 'any: [{ contains: price, equals: x }]',
      message: 'matches none of these: is not equal',
    },
    { expectation: 'not: { contains: price }', message: 'matches, but must not: contains "price"' },
    { expectation: 'seconds: 0', message: ' s, more than 0 s' },
  ];

  const schemas = {
    'schema.json': '{"type":"object","required":["date"]}',
    'strict.json': '{"properties":{"items":{"items":{"properties":{"price":{"maximum":15}}}}}}',
    'answer.txt': answer,
  };

  const formatCase = (expectation: string): string =>
    `  - inputs: { text: "@answer.txt" }\n    expect:\n      - ${expectation}\n`;

  it('passes if the answer meets it', async () => {
    const { exitCode, stdout } = await createEchoProject(MET.map(formatCase).join(''), schemas).run(
      ['test'],
    );
    expect(stdout()).toContain(`${MET.length} passed, 0 failed`);
    expect(exitCode).toBe(0);
  });

  it('fails if the answer does not meet it, and says why', async () => {
    const project = createEchoProject(
      UNMET.map(({ expectation }) => formatCase(expectation)).join(''),
      schemas,
    );
    const { exitCode, stdout } = await project.run(['test', '--json']);
    const { cases } = JSON.parse(stdout()) as {
      cases: { status: string; repetitions: { mismatches: { message: string }[] }[] }[];
    };

    expect(exitCode).toBe(EXIT.runFailed);

    for (const [index, { expectation, message }] of UNMET.entries()) {
      expect(cases[index]?.status, expectation).toBe('failed');
      expect(cases[index]?.repetitions[0]?.mismatches[0]?.message, expectation).toContain(message);
    }
  });

  it('may be missing: then the case passes if its run succeeds', async () => {
    const inputs = '  - inputs: { text: hello }\n';
    const project = createEchoProject(`${inputs}${inputs}    expect: []\n`);
    expect((await project.run(['test'])).stdout()).toContain('2 passed, 0 failed');
  });

  it('of JSON looks into a code fence', async () => {
    const fencedText = '"```json\\n{\\"a\\":1}\\n```"';
    const project = createEchoProject(
      `  - inputs: { text: ${fencedText} }\n    expect: [{ json: { a: 1 } }]\n`,
    );
    expect((await project.run(['test'])).exitCode).toBe(0);
  });

  it('fails even if it is negated if its pattern or schema takes too long', async () => {
    const text = `'"${'a'.repeat(40)}b"'`;

    // Few, because each takes two seconds.
    const cases = [
      'not: { matches: "^.(a|a)*$" }',
      'schema: slow.json',
      `any: [{ schema: { pattern: "^(a|a)*$" } }, { endsWith: '"' }]`,
    ]
      .map(
        (expectation, index) =>
          `  - { name: c${index}, inputs: { text: ${text} }, expect: [{ ${expectation} }] }\n`,
      )
      .join('');
    const project = createEchoProject(cases, { 'slow.json': '{"pattern": "^(a|a)*$"}' });
    const { exitCode, stdout } = await project.run(['test']);

    expect(stdout()).toMatch(
      /not matches .*: the check takes longer.* schema slow\.json: the check takes/su,
    );
    expect(stdout()).toContain('1 passed, 2 failed');
    expect(exitCode).toBe(EXIT.runFailed);
  });
});

describe('white space at the ends of an answer', () => {
  const cases =
    '\n  - inputs: { text: "  Yes.\\t " }\n    expect: [{ equals: Yes. }, { endsWith: . }]\n';

  it.each([
    { name: 'counts by default', trimLine: '', expectedExitCode: EXIT.runFailed },
    {
      name: 'counts with `trim: false`',
      trimLine: 'trim: false\n',
      expectedExitCode: EXIT.runFailed,
    },
    { name: 'is ignored with `trim: true`', trimLine: 'trim: true\n', expectedExitCode: 0 },
  ])('$name', async ({ trimLine, expectedExitCode }) => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `${trimLine}cases:${cases}`,
    });
    expect((await project.run(['test'])).exitCode).toBe(expectedExitCode);
  });

  it('is a fault of the file if its `trim` is not true or false', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `trim: maybe\ncases:${cases}`,
    });
    const { exitCode, stderr } = await project.run(['test']);
    expect(stderr()).toContain('echo.test.yaml:1: trim must be true or false');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is ignored by the tests of a converted prompt, as in the tool that they come from', async () => {
    const github = [
      'model: echo',
      'messages: [{ role: user, content: "{{text}}" }]',
      'testData: [{ text: "  Yes. " }]',
      'evaluators: [{ name: a, string: { startsWith: y } }, { name: b, string: { equals: Yes. } }]',
    ];
    const project = new Project({ 'g.prompt.yml': github.join('\n') });

    expect((await project.run(['test', 'g.prompt.yml'])).exitCode).toBe(0);

    await project.run(['prompts', 'new', 'g.prompt', '--from', 'g.prompt.yml']);
    expect((await project.run(['test', 'g.prompt'])).exitCode).toBe(0);
  });
});
