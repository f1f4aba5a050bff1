import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { runInProcess } from '../../../support/context.ts';
import { Project } from '../../../support/project.ts';
import { hasPython } from '../../../support/system.ts';

const SCHEMA = {
  type: 'custom',
  item_schema: {
    type: 'object',
    properties: {
      ticket: { type: 'string' },
      label: { type: 'string' },
      facts: { type: 'object' },
    },
  },
};

const MESSAGES = [
  { role: 'developer', content: 'Label tickets' },
  { role: 'user', content: [{ type: 'input_text', text: 'Ticket: {{ item.ticket }}' }] },
];

const ROWS = `{"item": {"ticket": "Black screen", "label": "Hardware"}}
{"item": {"ticket": "Password {{lost}}", "label": "Ticket: Password {{lost}}"}}
`;

const check = (operation: string, reference: string, input = '{{ sample.output_text }}') => ({
  type: 'string_check',
  name: operation,
  input,
  operation,
  reference,
});

interface Files {
  readonly prompt: string;
  readonly cases: Record<string, unknown>[];
}

class Converted extends Project {
  /** Runs `prompts new` on a definition and its rows. */
  async convert(definition: object, rows = ROWS) {
    this.write('eval.json', JSON.stringify({ data_source_config: SCHEMA, ...definition }, null, 1));
    this.write('items.jsonl', rows);
    const argv = ['prompts', 'new', 'x.prompt', '--from', 'eval.json', '--items', 'items.jsonl'];
    // `run` is quiet, and the notes count here.
    const { exitCode, stderr } = await runInProcess(argv, { home: this.home });
    return { exitCode, stderr: stderr() };
  }

  files(): Files {
    const [prompt = '', tests = ''] = ['x.prompt', 'x.test.yaml'].map(file =>
      readFileSync(path.join(this.home, file), 'utf8'),
    );
    return { prompt, cases: (parse(tests) as { cases: Files['cases'] }).cases };
  }

  async rendered(...inputs: string[]): Promise<unknown> {
    const { stdout } = await this.run(['prompts', 'render', 'x.prompt', ...inputs, '--json']);
    return JSON.parse(stdout());
  }
}

describe("an evaluation of OpenAI's Evals", () => {
  it('becomes a prompt file of its messages, and a case for each row', async () => {
    const project = new Converted({});
    const { exitCode, stderr } = await project.convert({
      name: 'Tickets',
      data_source: {
        type: 'responses',
        model: 'gpt-4o-mini',
        sampling_params: { temperature: 0.5, max_completion_tokens: 9 },
        input_messages: { type: 'template', template: MESSAGES },
      },
      testing_criteria: [check('eq', '{{ item.label }}')],
    });

    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('eval.json');

    const { prompt, cases } = project.files();
    expect(prompt).toContain(
      'title: Tickets\nmodel: openai/gpt-4o-mini\nconfig:\n  temperature: 0.5\n  maxOutputTokens: 9\n',
    );
    expect(await project.rendered('-i', 'ticket=it')).toMatchObject({
      messages: [
        { role: 'system', content: [{ text: 'Label tickets' }] },
        { role: 'user', content: [{ text: 'Ticket: it' }] },
      ],
    });
    expect(cases).toEqual([
      {
        name: '1: Black screen',
        inputs: { ticket: 'Black screen' },
        expect: [{ equals: 'Hardware' }],
      },
      {
        name: '2: Password {{lost}}',
        inputs: { ticket: 'Password {{lost}}' },
        expect: [{ equals: 'Ticket: Password {{lost}}' }],
      },
    ]);
  });

  it('asks for the fields that no criterion has as its reference if it has no messages', async () => {
    const project = new Converted({});
    await project.convert({
      data_source_config: {
        type: 'custom',
        schema: {
          type: 'object',
          properties: {
            item: { type: 'object', properties: { ticket: {}, label: {}, 'the-tone': {} } },
            sample: { type: 'object', properties: { output_text: {} } },
          },
        },
      },
      testing_criteria: [check('ilike', 'a {{item.label}}')],
    });

    expect(project.files().prompt).toMatch(/required:\n {6}- ticket\n {6}- the-tone\n/u);
    expect(await project.rendered('-i', 'ticket=Hm', '-i', 'the-tone=calm')).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'ticket: Hm\nthe-tone: calm' }] }],
    });
  });

  it('fills items of lists, such as `item.turns[0].text`, and says which parts of an answer it does not have', async () => {
    const project = new Converted({});
    const { stderr } = await project.convert(
      {
        input_messages: [{ role: 'user', content: 'Say {{ item.turns[0].text }}' }],
        testing_criteria: [
          check('eq', '{{item.turns[1].text}}', '{{sample.output_json.said[0]}}'),
          check('eq', 'look', '{{sample.output_tools[0].function.name}}'),
        ],
      },
      '{"item": {"turns": [{"text": "a"}, {"text": "b"}]}}\n',
    );

    expect(stderr).toContain(
      'refers to `sample.output_tools.0.function.name`, which has no equivalent: it is left out',
    );
    expect(await project.rendered('-i', 'turns=[{"text": "a"}]')).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Say a' }] }],
    });
    expect(project.files().cases).toMatchObject([
      { inputs: { turns: '[{"text":"a"},{"text":"b"}]' }, expect: [{ equals: 'b' }] },
    ]);
  });

  it('refuses messages that the rows hold, at their line', async () => {
    const project = new Converted({});
    const { exitCode, stderr } = await project.convert({
      data_source: { input_messages: { type: 'item_reference', item_reference: 'item.turns' } },
      testing_criteria: [],
    });
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toMatch(
      /eval\.json:2\d: `input_messages` takes its messages from the rows \(`item\.turns`\), which a prompt file can't: write/u,
    );
  });

  it.runIf(hasPython)(
    'decides like its operations, for JSON in the answer and Python too',
    async () => {
      const grade =
        "def grade(sample, item):\n    return 1.0 if item['label'] in sample['output_text'] else 0.0";
      const project = new Converted({});
      const { stderr } = await project.convert(
        {
          input_messages: [
            { role: 'user', content: '{"a": "{{item.label}}", "b": {{item.facts.height}}}' },
          ],
          testing_criteria: [
            check('ne', '{{item.label}}'),
            check('like', 'hardware'),
            check('ilike', 'hardware'),
            check('eq', 'HardWare', '{{ sample.output_json.a }}'),
            check('eq', 'It is 8', 'It is {{ sample.output_json.b }}'),
            { type: 'python', name: 'grade', source: grade, pass_threshold: 1 },
            {
              type: 'python',
              name: 'fails',
              source: 'def grade(sample, item):\n    return item["none"]',
            },
          ],
        },
        '{"label": "HardWare", "facts": {"height": 7}}\n',
      );

      expect(stderr).toContain(
        'the criterion `grade` is a program: `test` runs it with --allow-commands',
      );
      expect(stderr).toContain('the criterion `fails` has no `pass_threshold`: 0.5 is used');

      const tested = await project.run(['test', 'x.test.yaml', '-m', 'echo', '--allow-commands']);
      const failures = tested
        .stdout()
        .split('\n')
        .filter(line => /^ *x\.test\.yaml:\d+: /u.test(line));

      expect(failures.map(line => line.replace(/^ *x\.test\.yaml:\d+: /u, ''))).toEqual([
        expect.stringContaining('hardware'),
        expect.stringContaining('returns false'),
        expect.stringContaining('ended with 1'),
      ]);
      expect(tested.stdout()).toContain("it scores 0: KeyError('none')");
    },
  );

  it('keeps the questions of graders, and distinguishes a label from one that contains it', async () => {
    const project = new Converted({});
    const input = [
      { role: 'developer', content: 'Judge by {{item.label}}' },
      {
        role: 'user',
        content: { type: 'input_text', text: 'The answer: {{ sample.output_text }}' },
      },
    ];

    const { stderr } = await project.convert({
      input_messages: MESSAGES,
      testing_criteria: [
        {
          type: 'label_model',
          name: 'l',
          model: 'o4-mini',
          input,
          labels: ['correct', 'incorrect'],
          passing_labels: ['correct'],
        },
        {
          type: 'score_model',
          name: 's',
          model: 'gpt-4o',
          input,
          range: [1, 5],
          pass_threshold: 4,
        },
        {
          type: 'text_similarity',
          name: 't',
          input: '{{sample.output_text}}',
          reference: '{{item.label}}',
          evaluation_metric: 'bleu',
          pass_threshold: 0.5,
        },
      ],
    });
    expect(stderr).toContain('the criterion `t` measures `bleu >= 0.5`, which becomes a rubric');

    const [first] = project.files().cases;
    expect(first).toMatchObject({
      vars: { label: 'Hardware' },
      expect: [
        {
          llm: {
            systemPrompt: 'Judge by {{label}}',
            prompt: expect.stringContaining(
              'The answer: {{completion}}\n\nAnswer with one of these labels',
            ),
            model: 'openai/o4-mini',
            choices: [
              { choice: 'incorrect', score: 0 },
              { choice: 'correct', score: 1 },
            ],
          },
        },
        {
          rubric: expect.stringContaining('Judge by Hardware'),
          threshold: 0.75,
          judge: 'openai/gpt-4o',
        },
        { rubric: expect.stringContaining('this reference:\n\nHardware') },
      ],
    });
  });

  it('names what it leaves out and what a row lacks, with the line', async () => {
    const project = new Converted({});
    const { exitCode, stderr } = await project.convert(
      {
        input_messages: MESSAGES,
        testing_criteria: [
          { type: 'multi', name: 'both', graders: {} },
          check('eq', '{{item.label}}', '{{item.ticket}}'),
          check('eq', 'x', '{{sample.output_tools}}'),
        ],
      },
      '{"item": {"label": "x"}}\n',
    );

    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'eval.json:35: the criterion `both` has no equivalent: `multi` is left out',
    );
    expect(stderr).toContain(
      'the criterion `eq` checks the row and not the answer: it is left out',
    );
    expect(stderr).toContain('refers to `sample.output_tools`, which has no equivalent');
    expect(stderr).toContain('items.jsonl:1: this row has no `ticket`: it is empty');
  });

  it.each([
    ['rows that are not JSON', {}, '{"item": {}}\n{', 'items.jsonl:2: this row is not JSON'],
    ['rows that are not objects', {}, '[1]', 'items.jsonl:1: a row must be a JSON object'],
    [
      'pictures in a message',
      { input_messages: [{ role: 'user', content: { type: 'input_image' } }] },
      ROWS,
      'content',
    ],
    [
      'rows of references alone',
      { testing_criteria: [check('eq', '{{item.ticket}}{{item.label}}{{item.facts}}')] },
      ROWS,
      'no field to ask for',
    ],
  ])('refuses %s and writes nothing', async (_, definition, rows, words) => {
    const project = new Converted({});
    const { exitCode, stderr } = await project.convert(
      { testing_criteria: [], ...definition },
      rows,
    );

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(words);
    expect(() => project.files()).toThrow('ENOENT');
  });

  it('has rows that batch and compare unwrap unless the prompt takes an item', async () => {
    const head = (input: string, tag: string) =>
      `---\nmodel: echo\ninput:\n  schema:\n    ${input}: any\n---\n{{${tag}}}\n`;
    const project = new Project({
      'x.prompt': head('ticket', 'ticket'),
      'y.prompt': head('item', 'item.ticket'),
      'items.jsonl': '{"item": {"ticket": "a"}, "sample": {"output_text": "b"}}\n',
    });

    const answers = async (file: string) => {
      await project.run(['batch', file, '--from', 'items.jsonl', '--out', `${file}.jsonl`]);
      const results = readFileSync(path.join(project.home, `${file}.jsonl`), 'utf8');
      return (JSON.parse(results) as { outputs: { data: string }[] }).outputs.map(
        ({ data }) => data,
      );
    };

    expect(await answers('x.prompt')).toEqual(['a']);

    const compared = await project.run([
      'compare',
      'x.prompt',
      'x.prompt',
      '--from',
      'items.jsonl',
      '--json',
    ]);
    expect(compared.exitCode).toBe(0);

    project.write('items.jsonl', '{"item": {"ticket": "a"}}\n');
    expect(await answers('y.prompt')).toEqual(['a']);
  });
});
