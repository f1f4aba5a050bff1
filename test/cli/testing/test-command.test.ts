import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { localService } from '../../../src/main.ts';
import { runInProcess } from '../../support/context.ts';
import { ECHO, echoProject, Project } from '../../support/project.ts';
import { hasLinks } from '../../support/system.ts';

const PASSING = `
  - name: greets
    inputs: { text: hello }
    expect: [{ equals: hello }]
`;
const FAILING = `
  - name: greets in Norwegian
    inputs: { text: hello }
    expect: [{ equals: hei }]
`;

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
    ['containsJson: { type: object, required: [none] }', 'contains no JSON that matches the schema'],
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

  it('is met by each of these', async () => {
    const { exitCode, stdout } = await echoProject(met.map(caseExpecting).join(''), schemas).run(['test']);
    expect(stdout()).toContain(`${met.length} passed, 0 failed`);
    expect(exitCode).toBe(0);
  });

  it('is not met by each of these, and each says why', async () => {
    const project = echoProject(unmet.map(([expectation]) => caseExpecting(expectation)).join(''), schemas);
    const { exitCode, stdout } = await project.run(['test', '--json']);
    const { cases } = JSON.parse(stdout()) as {
      cases: { status: string; repetitions: { mismatches: { message: string }[] }[] }[];
    };
    expect(exitCode).toBe(5);
    for (const [at, [expectation, message]] of unmet.entries()) {
      expect(cases[at]?.status, expectation).toBe('failed');
      expect(cases[at]?.repetitions[0]?.mismatches[0]?.message, expectation).toContain(message);
    }
  });

  it('is not needed: the run must only succeed', async () => {
    const inputs = '  - inputs: { text: hello }\n';
    const project = echoProject(`${inputs}${inputs}    expect: []\n`);
    expect((await project.run(['test'])).stdout()).toContain('2 passed, 0 failed');
  });

  it('takes JSON out of a code fence', async () => {
    const fenced = 'Fenced: "```json\\n{\\"a\\":1}\\n```"';
    const project = echoProject(
      `  - inputs: { text: ${fenced.slice('Fenced: '.length)} }\n    expect: [{ json: { a: 1 } }]\n`,
    );
    expect((await project.run(['test'])).exitCode).toBe(0);
  });

  it('stops a pattern that would take forever, which fails negated as well, and a schema', async () => {
    const text = `'"${'a'.repeat(40)}b"'`;
    // Few, because each takes two seconds.
    const cases = [
      'not: { matches: "^.(a|a)*$" }',
      'schema: slow.json',
      `any: [{ schema: { pattern: "^(a|a)*$" } }, { endsWith: '"' }]`,
    ]
      .map(
        (expectation, at) =>
          `  - { name: c${at}, inputs: { text: ${text} }, expect: [{ ${expectation} }] }\n`,
      )
      .join('');
    const project = echoProject(cases, { 'slow.json': '{"pattern": "^(a|a)*$"}' });
    const { exitCode, stdout } = await project.run(['test']);
    expect(stdout()).toMatch(/not matches .*: the check takes longer.* schema slow\.json: the check takes/su);
    expect([exitCode, stdout()]).toEqual([5, expect.stringContaining('1 passed, 2 failed')]);
  });
});

describe('the exit code of tests', () => {
  it('is 0 if all passed', async () => {
    const { exitCode, stdout } = await echoProject(PASSING).run(['test']);
    expect([exitCode, stdout()]).toEqual([0, expect.stringContaining('1 passed, 0 failed')]);
  });

  it('is 5 if some failed', async () => {
    expect((await echoProject(PASSING + FAILING).run(['test'])).exitCode).toBe(5);
  });

  it('is the fault of what could not be run, which outranks failures', async () => {
    const project = echoProject(FAILING, {
      'gone.test.yaml':
        'target: describe\ncases:\n  - images: [https://127.0.0.1/a.png]\n    expect: [{ contains: Ada }]\n',
    });
    const { exitCode, stdout } = await project.run(['test', '--concurrency', '1']);
    expect(stdout()).toContain('could not be run');
    expect(exitCode).toBe(2);
  });

  it('is 5 for a run that failed: that is a failure, not a fault', async () => {
    const project = new Project({
      's.test.yaml':
        'target: sandbox\ncases:\n  - options: { outcome: failed }\n    expect: [{ contains: x }]\n',
    });
    const { exitCode, stdout } = await project.run(['test']);
    expect(stdout()).toContain('the run failed: ');
    expect([exitCode, stdout()]).toEqual([5, expect.stringContaining('0 passed, 1 failed')]);
  });
});

describe('a fault in a test file', () => {
  it.each([
    ['cases:\n  - expct: []\n', 'echo.test.yaml:2: a case has no key "expct"; did you mean expect?'],
    ['casess: []\n', 'echo.test.yaml:1: a test file has no key "casess"'],
    ['cases: []\n', 'cases is empty'],
    [
      'cases:\n  - expect: [{ contain: a }]\n',
      'echo.test.yaml:2: an expectation has no key "contain"; did you mean contains?',
    ],
    ['cases:\n  - expect: [{ judge: echo }]\n', '\njudge names a model; rubric says what it judges.\n'],
    ['cases:\n  - expect: [{ matches: "(" }]\n', 'echo.test.yaml:2: matches: '],
    ['cases:\n  - expect: [{ jmespath: "a[" }]\n', 'echo.test.yaml:2: jmespath: '],
    ['cases:\n  - expect: [{ schema: none.json }]\n', 'echo.test.yaml:2: schema: none.json does not exist'],
    [
      'cases:\n  - inputs: { text: "@none.txt" }\n    expect: [{ contains: a }]\n',
      'echo.test.yaml:2: text: none.txt does not exist',
    ],
    [
      'cases:\n  - images: [none.png]\n    expect: [{ contains: a }]\n',
      'echo.test.yaml:2: image: none.png does not exist',
    ],
    [
      'cases:\n  - expect: [{ contains: a }]\n    repeat: 0\n',
      'echo.test.yaml:3: repeat must be a whole number of 1 or more',
    ],
    [
      'cases:\n  - expect: [{ contains: a }]\n    repeat: 2\n    pass: 3\n',
      'echo.test.yaml:4: pass (3) is more than repeat (2)',
    ],
    [
      'model: a\nmodels: [b]\ncases:\n  - expect: [{ contains: a }]\n',
      'echo.test.yaml:2: model and models are both set: keep one',
    ],
    [
      'target: ./none.prompt\ncases:\n  - expect: [{ contains: a }]\n',
      'echo.test.yaml:1: the prompt file ./none.prompt does not exist',
    ],
    [
      'cases:\n  - inputs: { nobody: a }\n    expect: [{ contains: a }]\n',
      'echo.test.yaml:2: the prompt has no input "nobody"',
    ],
    [
      'cases:\n  - expect: [{ contains: a }]\n',
      'echo.test.yaml:2: missing input: text (USAGE_ERROR)\nGive it under the inputs of the case: text: …\n',
    ],
    [
      'cases:\n  - inputs: { text: a }\n    expect: [{ rubric: polite }]\n',
      'echo.test.yaml:3: a rubric needs a judge',
    ],
    ['cases:\n  - expect: [{ any: [] }]\n', 'echo.test.yaml:2: any needs a list of expectations'],
    ['cases:\n  - repeat: 1001\n', 'echo.test.yaml:2: repeat (1001) is more than 1000'],
    ['cases:\n  - expect: [{ llm: { prompt: a } }]\n', 'echo.test.yaml:2: llm needs prompt and choices'],
    ['cases:\n  - expect:\n      - command: [node]\n', 'echo.test.yaml:3: it runs its own command'],
    ['cases: [\n', 'echo.test.yaml:'],
  ])('%j is refused with file and line', async (source, message) => {
    const project = new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': source });
    const { exitCode, stdout, stderr } = await project.run(['test']);
    expect(stderr()).toContain(message);
    expect([exitCode, stdout()]).toEqual([2, '']);
  });

  it('is reported for a path that does not exist, and for a directory without tests', async () => {
    const project = new Project({});
    expect((await project.run(['test', 'none'])).exitCode).toBe(2);
    expect((await project.run(['test'])).exitCode).toBe(4);
  });
});

describe('blank space at the ends of an answer', () => {
  const cases = '\n  - inputs: { text: "  Yes.\\t " }\n    expect: [{ equals: Yes. }, { endsWith: . }]\n';

  it('counts, unless the file says otherwise', async () => {
    expect((await echoProject(cases).run(['test'])).exitCode).toBe(5);
    const test = (trim: string) =>
      new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': `trim: ${trim}\ncases:${cases}` }).run(['test']);
    expect((await test('true')).exitCode).toBe(0);
    expect((await test('false')).exitCode).toBe(5);
    expect((await test('maybe')).stderr()).toContain('echo.test.yaml:1: trim must be true or false');
  });

  it('does not count for the tests of a converted prompt, as it did not there', async () => {
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

describe('repetitions', () => {
  const cases = `
  - name: thrice
    inputs: { text: a }
    expect: [{ equals: b }]
    repeat: 3
    pass: 2
  - name: once
    inputs: { text: a }
    expect: [{ equals: a }]
`;

  it('are one entry, whose own threshold decides', async () => {
    const { stdout, exitCode } = await echoProject(cases).run(['test']);
    expect(stdout()).toContain('0 of 3 (0–56 %), 2 needed');
    expect([exitCode, stdout()]).toEqual([5, expect.stringContaining('1 passed, 1 failed')]);
  });

  it('are separate runs, each', async () => {
    const project = echoProject(cases);
    await project.run(['test']);
    const { stdout } = await project.run(['runs', 'list', '--json']);
    expect(JSON.parse(stdout())).toHaveLength(4);
  });
});

describe('a test', () => {
  it('publishes nothing: the file it runs is not what its name stands for', async () => {
    const project = echoProject(PASSING);
    await project.run(['test']);
    const { exitCode, stderr } = await project.run(['run', 'echo', '-i', 'text=a']);
    expect([exitCode, stderr()]).toEqual([4, expect.stringContaining('the prompt "echo" does not exist')]);
  });

  it('runs every case with each of its models', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `models: [echo, card]\ncases:${PASSING}`,
    });
    const { stdout, exitCode } = await project.run(['test']);
    expect(stdout()).toContain('passed echo.test.yaml: greets [echo]');
    expect(stdout()).toContain('FAILED echo.test.yaml: greets [card]');
    expect(exitCode).toBe(5);
  });

  it('runs only what --filter names', async () => {
    const { stdout } = await echoProject(PASSING + FAILING).run(['test', '--filter', 'norwegian GREETS']);
    expect(stdout()).toContain('0 passed, 1 failed');
  });

  it('runs only what failed last with --failed', async () => {
    const project = echoProject(PASSING + FAILING);
    await project.run(['test']);
    const { stdout } = await project.run(['test', '--failed']);
    expect(stdout()).toContain('0 passed, 1 failed');
    project.write('echo.test.yaml', `cases:\n${PASSING}${FAILING.replace('hei', 'hello')}`);
    expect((await project.run(['test', '--failed'])).exitCode).toBe(0);
  });

  it('succeeds with --failed if nothing failed, and refuses it if nothing was run', async () => {
    const project = echoProject(PASSING + FAILING);
    const refused = await project.run(['test', '--failed']);
    expect([refused.exitCode, refused.stderr()]).toEqual([4, expect.stringContaining('Leave out --failed')]);
    await project.run(['test', '--filter', 'norwegian']);
    project.write('echo.test.yaml', `cases:\n${PASSING}${FAILING.replace('hei', 'hello')}`);
    expect((await project.run(['test', '--failed'])).exitCode).toBe(0);
    const live = { home: project.home, local: localService };
    const argv = ['test', '--failed', '--reporter', 'json', '--out', 'report.json'];
    const green = await runInProcess(argv, live);
    expect([green.exitCode, green.stderr()]).toEqual([
      0,
      'note: no case failed when it was last run; 1 case passed\n',
    ]);
    const report: unknown = JSON.parse(readFileSync(path.join(project.home, 'report.json'), 'utf8'));
    expect(report).toMatchObject({ passed: 0, failed: 0, cases: [] });
  });

  it('says with --failed that failures with --replay are kept apart', async () => {
    const project = echoProject(PASSING);
    await project.run(['test', '--record', 'rec']);
    project.write('echo.test.yaml', `cases:\n${PASSING.replace('equals: hello', 'equals: hullo')}`);
    expect((await project.run(['test', '--replay', 'rec'])).exitCode).toBe(5);
    const live = { home: project.home, local: localService };
    const { exitCode, stderr } = await runInProcess(['test', '--failed'], live);
    expect(exitCode).toBe(0);
    expect(stderr()).toContain(
      'note: 1 case failed with --replay, which is remembered apart: to run only those, add --replay <dir>\n',
    );
    expect((await project.run(['test', '--failed', '--replay', 'rec'])).exitCode).toBe(5);
  });

  it('knows with --failed which cases failed, whatever files were tested with them', async () => {
    const project = echoProject(PASSING + FAILING);
    project.write('other.prompt', ECHO);
    project.write('other.test.yaml', `cases:\n${FAILING}`);
    await project.run(['test']);
    const one = await project.run(['test', 'echo.test.yaml', '--failed']);
    expect(one.stdout()).toContain('0 passed, 1 failed');
    project.write('echo.prompt', ECHO.replace('{{text}}', 'hei'));
    await project.run(['test', 'echo.test.yaml', '--filter', 'norwegian']);
    const all = await project.run(['test', '--failed']);
    expect(all.stdout()).toContain('FAILED other.test.yaml: greets in Norwegian');
    expect(all.stdout()).toContain('0 passed, 1 failed');
  });

  it('knows with --failed what failed though the file of results was full, torn or unreadable', async () => {
    const project = echoProject(PASSING + FAILING);
    const old = Array.from({ length: 45_000 }, (_, index) =>
      JSON.stringify({ ids: [`${index}`.padStart(64, '0')], verdict: 'failed' }),
    );
    project.write('state/tests/verdicts.jsonl', `{"ids":7}\nno JSON\n${old.join('\n')}\n{"ids":["torn`);
    await project.run(['test']);
    expect(statSync(path.join(project.home, 'state/tests/verdicts.jsonl')).size).toBeLessThan(3_000_000);
    expect((await project.run(['test', '--failed'])).stdout()).toContain('0 passed, 1 failed');
  });

  it('needs no judge with --failed unless a failed case has a rubric, and prices only failed cases', async () => {
    const project = echoProject(
      `${FAILING}  - { name: judged, inputs: { text: hi }, expect: [{ rubric: is polite }] }\n`,
    );
    // Without the judge, the whole file is a fault.
    expect((await project.run(['test'])).exitCode).toBe(2);
    await project.run(['test', '--filter', 'norwegian']);
    const { stdout, exitCode, stderr } = await project.run(['test', '--failed']);
    expect([exitCode, stdout()], stderr()).toEqual([5, expect.stringContaining('0 passed, 1 failed')]);
    const dry = await project.run(['test', '--failed', '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout())).toMatchObject({ cases: 1, creations: 1 });

    // The model `echo` answers no question, so the judged case fails, too.
    await project.run(['test', '--judge', 'echo']);
    const without = await project.run(['test', '--failed']);
    expect(without.exitCode).toBe(2);
    expect(without.stderr()).toMatch(/echo\.test\.yaml:\d+: a rubric needs a judge/u);
  });

  it('knows with --failed which cases failed, even after the prompt or a case was edited', async () => {
    const project = echoProject(PASSING + FAILING);
    await project.run(['test']);
    project.write('echo.prompt', ECHO.replace('{{text}}', 'hei'));
    const { stdout } = await project.run(['test', '--failed']);
    expect(stdout()).toContain('1 passed, 0 failed');
  });

  it('knows with --failed which cases without names failed, even after one was added before them', async () => {
    const written = (text: string, expected = text): string =>
      `  - { inputs: { text: ${text} }, expect: [{ equals: ${expected} }] }\n`;
    const before = written('a') + written('b', 'x') + written('c');
    const project = new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': `cases:\n${before}` });
    await project.run(['test']);
    project.write('echo.test.yaml', `cases:\n${written('new')}${before}`);
    const { stdout } = await project.run(['test', '--failed']);
    expect(stdout()).toContain('FAILED echo.test.yaml: case 3');
    expect(stdout()).toContain('0 passed, 1 failed');
  });

  it('takes no verdict on a case for that on an equal one without a name', async () => {
    const [passing, failing] = ['hello', 'hei'].map(
      answer => `
  - inputs: { text: hello }
    expect: [{ equals: ${answer} }]
`,
    );
    const project = echoProject(`${passing}${failing}`);
    expect((await project.run(['test', '--filter', 'case 2'])).exitCode).toBe(5);
    expect((await project.run(['test', '--failed', '--filter', 'case 1'])).exitCode).toBe(4);
  });

  it('keeps equal cases apart if --filter leaves some of them out', async () => {
    const project = echoProject(PASSING + FAILING);
    const testedRun = async (...flags: string[]): Promise<string | undefined> => {
      const { stdout } = await project.run(['test', ...flags, '--json']);
      const { cases } = JSON.parse(stdout()) as {
        cases: { name: string; repetitions: { runId: string }[] }[];
      };
      return cases.find(({ name }) => name === 'greets in Norwegian')?.repetitions[0]?.runId;
    };
    const runId = await testedRun();
    expect(await testedRun('--resume', '--filter', 'norwegian')).toBe(runId);
    expect((await project.run(['test', '--failed', '--filter', 'norwegian'])).exitCode).toBe(5);
  });

  it.each(['\n', '\r\n'])('writes what came with --update, and not one byte more: %j', async lineBreak => {
    const before = `  # of Ada
  - inputs: { text: '{"a":1,"b":2}' }
    expect:
      - json: { a: 2 } # only a
      - contains: a
  - inputs: {   text: "hello"   }
    expect: [{ contains: hell }, { equals: hei }]   # both on one line
  - inputs: { text: "one\\ntwo" }
    expect:
      equals: |
        three

  - inputs: { text: '{"n":1,"m":[1,"x"]}' }
    expect:
      json:
        n: 2 # a number
        m: [1, y]   # and a list
  - inputs: { text: 'a: {"name":1}' }
    transform: output.slice(3)
    expect:
      - json: { name: 2 } # of what the transform left
      - { transform: 'output.slice(2, 6)', equals: nick }
`;
    const project = echoProject(before.replaceAll('\n', lineBreak));
    const { exitCode } = await project.run(['test', '--update']);
    expect(exitCode).toBe(0);
    const expected = before
      .replace('{ a: 2 }', '{ a: 1 }')
      .replace('equals: hei', 'equals: hello')
      .replace('|\n        three', '|-\n        one\n        two')
      .replace('n: 2', 'n: 1')
      .replace('[1, y]', '[1, x]')
      .replace('{ name: 2 }', '{ name: 1 }')
      .replace('equals: nick', 'equals: name')
      .replaceAll('\n', lineBreak);
    expect(readFileSync(path.join(project.home, 'echo.test.yaml'), 'utf8')).toBe(`cases:\n${expected}`);
    expect((await project.run(['test'])).exitCode).toBe(0);
  });

  it('refuses to --update a read-only file before anything is created', async () => {
    const project = echoProject(FAILING);
    chmodSync(path.join(project.home, 'echo.test.yaml'), 0o444);
    const { exitCode, stdout, stderr } = await project.run(['test', '--update']);
    expect([exitCode, stdout(), stderr()]).toEqual([
      2,
      '',
      expect.stringMatching(
        /--update: echo\.test\.yaml is read-only .*\n.*(?:chmod u\+w|attrib -r) echo\.test\.yaml/u,
      ),
    ]);
    expect((await project.run(['runs', 'list'])).stdout()).toBe('');
  });

  it('never reports as passed what --update did not write', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `models: [echo, card]
cases:
  - inputs: { text: abc }
    expect: [{ contains: zzz }, { equals: abd }]
`,
    });
    const { exitCode, stdout } = await project.run(['test', '--update']);
    expect([exitCode, stdout()]).toEqual([5, expect.stringContaining('0 passed, 2 failed')]);
    expect(readFileSync(path.join(project.home, 'echo.test.yaml'), 'utf8')).toContain('{ equals: abc }');
    expect(stdout()).toContain('is not equal');
  });

  it('reports a fault that every file meets once', async () => {
    const project = echoProject(PASSING, { 'other.prompt': ECHO, 'other.test.yaml': `cases:\n${PASSING}` });
    const env = { PROMPTRUN_DATA_DIR: path.join(project.home, 'echo.prompt') };
    const { exitCode, stderr } = await project.run(['test'], { env });
    expect([exitCode, stderr().match(/^error: /gmu)]).toEqual([2, ['error: ']]);
  });

  it('runs the other files if one cannot be read, and reports both', async () => {
    const project = echoProject(PASSING, {
      'bad.test.yaml': 'cases: 1\n',
      'gone.test.yaml': 'target: nobody\ncases: [{}]\n',
    });
    const out = ['--reporter', 'junit', '--out', 'a.xml', '--reporter', 'json', '--out', 'b.json'];
    const { exitCode, stdout, stderr } = await project.run(['test', ...out]);
    expect([exitCode, stdout()]).toEqual([
      2,
      expect.stringContaining('1 passed, 0 failed, 2 could not be run'),
    ]);
    expect(stderr()).toContain('bad.test.yaml:1: cases must be a list');
    const files = ['a.xml', 'b.json'].map(file => readFileSync(path.join(project.home, file), 'utf8'));
    for (const text of files) expect(text).toContain('bad.test.yaml:1: cases must be a list');
  });

  it('takes several reports, each with its own file', async () => {
    const twice = ['--reporter', 'junit', '--reporter', 'json'];
    expect((await echoProject(PASSING).run(['test', ...twice])).exitCode).toBe(2);
    const same = ['--out', 'x', '--out', './x'];
    expect((await echoProject(PASSING).run(['test', ...twice, ...same])).exitCode).toBe(2);
    expect((await echoProject(PASSING).run(['test', '--out', 'x'])).exitCode).toBe(2);
  });

  it('runs every case with the models of -m, whatever its file names', async () => {
    const project = new Project({
      'echo.prompt': ECHO,
      'echo.test.yaml': `model: sandbox\ncases:${PASSING}`,
    });
    const { stdout } = await project.run(['test', '-m', 'echo,card', '-m', 'echo']);
    expect(stdout()).toContain('passed echo.test.yaml: greets [echo]');
    expect(stdout()).toContain('FAILED echo.test.yaml: greets [card]');
    expect(stdout()).toContain('1 passed, 1 failed');
  });

  it('prints the JSON Schema of its files', async () => {
    const { stdout, exitCode } = await new Project({}).run(['test', '--print-schema']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout())).toMatchObject({ properties: { cases: { type: 'array' } } });
  });

  it('finds the tests of a prompt file under both of their endings', async () => {
    const source = 'cases:\n  - inputs: { text: a }\n';
    const project = new Project({ 'echo.prompt': ECHO, 'echo.test.yml': source, 'alone.prompt': ECHO });
    expect((await project.run(['test', 'echo.prompt'])).exitCode).toBe(0);
    const { exitCode, stderr } = await project.run(['test', 'alone.prompt']);
    expect([exitCode, stderr()]).toEqual([
      2,
      expect.stringMatching(
        /^error: alone\.prompt has no tests: alone\.test\.yaml does not exist next to it .*\n.*help/u,
      ),
    ]);
  });

  it.each(['', ' '])('refuses the empty path %j', async name => {
    const { exitCode, stderr } = await new Project({}).run(['test', name]);
    expect([exitCode, stderr()]).toEqual([
      2,
      expect.stringContaining('path of a test file or directory is empty'),
    ]);
  });

  it('suggests to rename the tests of a prompt that was renamed', async () => {
    const project = new Project({ 'new.prompt': ECHO, 'old.test.yaml': 'cases:\n  - inputs: { text: a }\n' });
    const { exitCode, stderr } = await project.run(['test']);
    expect([exitCode, stderr()]).toEqual([
      2,
      expect.stringMatching(
        /^error: old\.test\.yaml:1: the prompt file .*\nRename the test file with its prompt, or /u,
      ),
    ]);
  });

  it('suggests the file whose ending was left out', async () => {
    const project = echoProject('  - inputs: { text: a }\n');
    const { exitCode, stderr } = await project.run(['test', 'echo']);
    expect([exitCode, stderr()]).toEqual([
      2,
      'error: echo does not exist; did you mean echo.prompt? (USAGE_ERROR)\n',
    ]);
  });

  it('takes a judge for rubrics, whose answer must begin with yes or no', async () => {
    const project = echoProject('  - inputs: { text: a }\n    expect: [{ rubric: is polite }]\n');
    const { exitCode, stdout } = await project.run(['test', '--judge', 'echo']);
    expect(stdout()).toMatch(
      /the judge answered neither yes nor no .*\n\s*It answered "You judge whether .*…"\./u,
    );
    expect(exitCode).toBe(1);
    expect((await project.run(['test', '--judge', 'nobody'])).exitCode).toBe(2);
  });
});

describe('files that a test file names', () => {
  const elsewhere = (): string => new Project({ 'secret.txt': 'a secret', 'any.json': '{}' }).home;

  it.runIf(hasLinks)(
    'lie below its folder by their real path: else the case is a fault, and the others run',
    async () => {
      const outside = elsewhere();
      const project = echoProject(
        [
          `{ name: up, inputs: { text: "@../${path.basename(outside)}/secret.txt" } }`,
          `{ name: absolute, inputs: { text: "@${outside}/secret.txt" } }`,
          `{ name: link, inputs: { text: "@link.txt" } }`,
          `{ name: device, inputs: { text: "@zero" } }`,
          `{ name: loop, inputs: { text: "@loop" } }`,
          `{ name: schema, inputs: { text: a }, expect: [{ schema: ${outside}/any.json }] }`,
          `{ name: fine, inputs: { text: "@own/text.txt" }, expect: [{ equals: own }] }`,
        ]
          .map(testCase => `  - ${testCase}\n`)
          .join(''),
        { 'own/text.txt': 'own' },
      );
      symlinkSync(path.join(outside, 'secret.txt'), path.join(project.home, 'link.txt'));
      symlinkSync('/dev/zero', path.join(project.home, 'zero'));
      symlinkSync('loop', path.join(project.home, 'loop'));
      const { exitCode, stdout } = await project.run(['test', '--json']);
      const { cases } = JSON.parse(stdout()) as { cases: { name: string; status: string }[] };
      expect(cases.filter(({ status }) => status === 'passed').map(({ name }) => name)).toEqual(['fine']);
      expect(exitCode).toBe(2);
      expect(stdout()).not.toContain('a secret');
      const allowed = await project.run(['test', '--allow-outside', '--json', '--filter', 'absolute']);
      expect([allowed.exitCode, allowed.stdout()]).toEqual([0, expect.stringContaining('a secret')]);
    },
  );
});
