import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../../support/project.ts';

describe('an expectation', () => {
  const answer = '{"date":"2026-11-20","items":[{"price":12},{"price":20}],"n":0}';
  const met = [
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

  const unmet = [
    ['json: { date: "2026-11-21" }', 'differs at "/date": expected "2026-11-21", got "2026-11-20"'],
    ['json: { items: [{ price: 12 }] }', 'differs at "/items"'],
    ['json: { missing: null }', 'differs at "/missing": it is missing'],
    ['jmespath: "items[?price > `15`] | length(@) == `2`"', 'returns false'],
    ['jmespath: "items[?price > `50`]"', 'returns []'],
    ['contains: sorry', 'does not contain "sorry"'],
    ['matches: "^\\\\["', 'does not match /^\\[/'],
    ['schema: ./strict.json', 'does not match ./strict.json at "/items/1/price"'],
    ['equals: nothing', 'is not equal'],
    ['icontains: sorry', 'does not contain "sorry"'],
    ['startsWith: price', 'does not begin with "price"'],
    ['endsWith: price', 'does not end with "price"'],
    [
      'containsJson: { type: object, required: [none] }',
      'contains no JSON that matches the schema',
    ],
    ['schema: { type: array }', 'does not match the schema at ""'],
    [
      'any: [{ contains: sorry }, { startsWith: x }]',
      'matches none of these: does not contain "sorry"; does not',
    ],
    ['any: [{ contains: price, equals: x }]', 'matches none of these: is not equal'],
    ['not: { contains: price }', 'matches, but must not: contains "price"'],
    ['seconds: 0', ' s, more than 0 s'],
  ] as const;

  const schemas = {
    'schema.json': '{"type":"object","required":["date"]}',
    'strict.json': '{"properties":{"items":{"items":{"properties":{"price":{"maximum":15}}}}}}',
    'answer.txt': answer,
  };

  const caseExpecting = (expectation: string): string =>
    `  - inputs: { text: "@answer.txt" }\n    expect:\n      - ${expectation}\n`;

  it('passes if the answer meets it', async () => {
    const { exitCode, stdout } = await createEchoProject(
      met.map(caseExpecting).join(''),
      schemas,
    ).run(['test']);
    expect(stdout()).toContain(`${met.length} passed, 0 failed`);
    expect(exitCode).toBe(0);
  });

  it('fails if the answer does not meet it, and says why', async () => {
    const project = createEchoProject(
      unmet.map(([expectation]) => caseExpecting(expectation)).join(''),
      schemas,
    );
    const { exitCode, stdout } = await project.run(['test', '--json']);
    const { cases } = JSON.parse(stdout()) as {
      cases: { status: string; repetitions: { mismatches: { message: string }[] }[] }[];
    };

    expect(exitCode).toBe(EXIT.runFailed);

    for (const [index, [expectation, message]] of unmet.entries()) {
      expect(cases[index]?.status, expectation).toBe('failed');
      expect(cases[index]?.repetitions[0]?.mismatches[0]?.message, expectation).toContain(message);
    }
  });

  it('may be missing: then the run must only succeed', async () => {
    const inputs = '  - inputs: { text: hello }\n';
    const project = createEchoProject(`${inputs}${inputs}    expect: []\n`);
    expect((await project.run(['test'])).stdout()).toContain('2 passed, 0 failed');
  });

  it('of JSON looks into a code fence', async () => {
    const fenced = 'Fenced: "```json\\n{\\"a\\":1}\\n```"';
    const project = createEchoProject(
      `  - inputs: { text: ${fenced.slice('Fenced: '.length)} }\n    expect: [{ json: { a: 1 } }]\n`,
    );
    expect((await project.run(['test'])).exitCode).toBe(0);
  });

  it('fails, negated too, if its pattern or schema would take forever', async () => {
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

  it('counts, unless the file says otherwise', async () => {
    expect((await createEchoProject(cases).run(['test'])).exitCode).toBe(EXIT.runFailed);

    const test = (trim: string) =>
      new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': `trim: ${trim}\ncases:${cases}` }).run([
        'test',
      ]);

    expect((await test('true')).exitCode).toBe(0);
    expect((await test('false')).exitCode).toBe(EXIT.runFailed);
    expect((await test('maybe')).stderr()).toContain(
      'echo.test.yaml:1: trim must be true or false',
    );
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
