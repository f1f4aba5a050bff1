import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Project } from '../../../support/project.ts';
import { hasPython } from '../../../support/system.ts';

interface Row {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly assert: Readonly<Record<string, unknown>>;
  /** The verdict of promptfoo. */
  readonly passes: boolean;
}

/** Tests the answers `vars.out` of the rows, and returns the verdicts. */
async function readVerdicts(rows: readonly Row[]): Promise<boolean[]> {
  const tests = rows.map(({ vars, assert }) => ({ vars, assert: [assert] }));
  const config = stringify({ prompts: ['{{out}}'], providers: ['echo'], tests });
  const project = new Project({ 'promptfooconfig.yaml': config });
  const { stdout } = await project.run(['test', '--json', '--allow-commands']);
  const { cases } = JSON.parse(stdout()) as {
    readonly cases: readonly { readonly status: string }[];
  };

  return cases.map(({ status }) => status === 'passed');
}

function row(vars: Row['vars'], [type, value]: readonly [string, unknown], passes: boolean): Row {
  return { vars, assert: { type, value }, passes };
}

it('Nunjucks renders the values of assertions as in promptfoo', async () => {
  const list = [{ n: 'a' }, { n: 'b' }];
  const rows = [
    row({ out: 'HELLO', word: 'hello' }, ['contains', '{{ word | upper }}'], true),
    row({ out: 'Paris', place: { city: 'Paris' } }, ['equals', '{{ place.city }}'], true),
    row({ out: 'a-b-', list }, ['equals', '{% for x in list %}{{ x.n }}-{% endfor %}'], true),
    row({ out: 'no', flag: false }, ['equals', '{% if flag %}yes{% else %}no{% endif %}'], true),
    row({ out: 'HELLO', word: 'hello' }, ['contains-any', ['{{ word | upper }}', 'zz']], true),
    row({ out: 'HELLO{{ x.a }}' }, ['contains', 'HELLO{{ missing.a }}'], true),
    row({ out: 'HELLO', word: 'hello' }, ['javascript', 'output === "{{ word | upper }}"'], true),
    row({ out: 'ab', one: 'a{{ two }}', two: 'b' }, ['equals', '{{ one | lower }}'], true),
    row({ out: 'aB', one: 'a{{ two | upper }}', two: 'b' }, ['equals', '{{ one }}'], false),
    row({ out: 'x' }, ['equals', 'x{# no #}'], true),
    row({ out: '3', n: 3 }, ['equals', '{{ n + 0 }}'], true),
    row(
      { out: '{"n": 3}', kind: 'string' },
      ['is-json', '{"properties":{"n":{"type":{{ kind|dump }}}}}'],
      false,
    ),
    row(
      { out: '{"n": 3}', kind: 'number' },
      ['is-json', '{"properties":{"n":{"type":{{ kind|dump }}}}}'],
      true,
    ),
    row({ out: 'HELLO', word: 'hello' }, ['contains', '{{ word | nofilter }}'], false),
    row({ out: 'HELLO', word: 'hello' }, ['not-contains', '{{ word | nofilter }}'], false),
    row({ out: 'a {{ b' }, ['contains', 'a {{ b'], false),
    ...(hasPython
      ? [row({ out: 'Q', x: 'q' }, ['python', 'output == "{{ x | upper }}"'], true)]
      : []),
  ];
  expect(await readVerdicts(rows)).toEqual(rows.map(({ passes }) => passes));
});

it('variables in an object that is the value of an assertion stay as they are, as in promptfoo', async () => {
  const rows = [
    row({ out: '{"a":"q"}', x: 'q' }, ['equals', { a: '{{x}}' }], false),
    row({ out: '{"a":["q"]}', x: 'q' }, ['equals', { a: ['{{x}}'] }], false),
  ];
  expect(await readVerdicts(rows)).toEqual([false, false]);
});

it("a schema that draft 7 doesn't allow fails its own case, as in promptfoo", async () => {
  const invalidSchemas = [
    { properties: { n: { type: 'number', required: true } } },
    { required: 'n' },
    { required: ['n', 'n'] },
    { properties: { n: { minimum: '1' } } },
    { properties: { n: { multipleOf: 0 } } },
    { properties: { n: { enum: 3 } } },
    { properties: { n: 'number' } },
    { properties: { n: { maxLength: -1 } } },
    { properties: ['n'] },
    { properties: { n: { pattern: '(' } } },
    { properties: { l: { items: [] } } },
    { title: 1 },
    { type: [] },
    { anyOf: [] },
    { additionalProperties: 'no' },
    { uniqueItems: 'yes' },
  ];

  const vars = { out: '{"n": 3, "l": []}' };
  const rows = invalidSchemas.map(value => row(vars, ['is-json', value], false));
  expect(await readVerdicts([...rows, row(vars, ['is-json', { required: ['n'] }], true)])).toEqual([
    ...rows.map(() => false),
    true,
  ]);
});
