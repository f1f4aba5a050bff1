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

/** Returns a criterion that compares the answer, or another input, with a reference. */
const createStringCheck = (
  operation: string,
  reference: string,
  input = '{{ sample.output_text }}',
) => ({
  type: 'string_check',
  name: operation,
  input,
  operation,
  reference,
});

interface ConvertedFiles {
  readonly prompt: string;
  readonly cases: Record<string, unknown>[];
}

/** A directory in which an evaluation becomes `x.prompt` and `x.test.yaml`. */
class EvaluationProject extends Project {
  /** Runs `prompts new` on a definition and its rows. */
  async convert(definition: object, rows = ROWS) {
    this.write('eval.json', JSON.stringify({ data_source_config: SCHEMA, ...definition }, null, 1));
    this.write('items.jsonl', rows);
    const argv = ['prompts', 'new', 'x.prompt', '--from', 'eval.json', '--items', 'items.jsonl'];
    // `run` is quiet, but these tests read the notes.
    const { exitCode, stderr } = await runInProcess(argv, { home: this.home });
    return { exitCode, stderr: stderr() };
  }

  /** Reads the files that `convert` has written. */
  readFiles(): ConvertedFiles {
    const [prompt = '', tests = ''] = ['x.prompt', 'x.test.yaml'].map(file =>
      readFileSync(path.join(this.home, file), 'utf8'),
    );
    return { prompt, cases: (parse(tests) as { cases: ConvertedFiles['cases'] }).cases };
  }

  async render(...inputs: string[]): Promise<unknown> {
    const { stdout } = await this.run(['prompts', 'render', 'x.prompt', ...inputs, '--json']);
    return JSON.parse(stdout());
  }
}

describe("an evaluation of OpenAI's Evals", () => {
  it('becomes a prompt file of its messages, and a case for each row', async () => {
    const project = new EvaluationProject({});
    const { exitCode, stderr } = await project.convert({
      name: 'Tickets',
      data_source: {
        type: 'responses',
        model: 'gpt-4o-mini',
        sampling_params: { temperature: 0.5, max_completion_tokens: 9 },
        input_messages: { type: 'template', template: MESSAGES },
      },
      testing_criteria: [createStringCheck('eq', '{{ item.label }}')],
    });

    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('eval.json');

    const { prompt, cases } = project.readFiles();
    expect(prompt).toContain(
      'title: Tickets\nmodel: openai/gpt-4o-mini\nconfig:\n  temperature: 0.5\n  maxOutputTokens: 9\n',
    );
    expect(await project.render('-i', 'ticket=it')).toMatchObject({
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
    const project = new EvaluationProject({});
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
      testing_criteria: [createStringCheck('ilike', 'a {{item.label}}')],
    });

    expect(project.readFiles().prompt).toMatch(/required:\n {6}- ticket\n {6}- the-tone\n/u);
    expect(await project.render('-i', 'ticket=Hm', '-i', 'the-tone=calm')).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'ticket: Hm\nthe-tone: calm' }] }],
    });
  });

  it('fills items of lists, such as `item.turns[0].text`', async () => {
    const project = new EvaluationProject({});
    await project.convert(
      {
        input_messages: [{ role: 'user', content: 'Say {{ item.turns[0].text }}' }],
        testing_criteria: [
          createStringCheck('eq', '{{item.turns[1].text}}', '{{sample.output_json.said[0]}}'),
        ],
      },
      '{"item": {"turns": [{"text": "a"}, {"text": "b"}]}}\n',
    );

    expect(await project.render('-i', 'turns=[{"text": "a"}]')).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Say a' }] }],
    });
    expect(project.readFiles().cases).toMatchObject([
      { inputs: { turns: '[{"text":"a"},{"text":"b"}]' }, expect: [{ equals: 'b' }] },
    ]);
  });

  it('refuses messages that the rows hold, at their line', async () => {
    const project = new EvaluationProject({});
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
    'becomes checks that decide like its string operations and its Python',
    async () => {
      const grade =
        "def grade(sample, item):\n    return 1.0 if item['label'] in sample['output_text'] else 0.0";
      const project = new EvaluationProject({});
      const { stderr } = await project.convert(
        {
          input_messages: [
            { role: 'user', content: '{"a": "{{item.label}}", "b": {{item.facts.height}}}' },
          ],
          testing_criteria: [
            createStringCheck('ne', '{{item.label}}'),
            createStringCheck('like', 'hardware'),
            createStringCheck('ilike', 'hardware'),
            createStringCheck('eq', 'HardWare', '{{ sample.output_json.a }}'),
            createStringCheck('eq', 'It is 8', 'It is {{ sample.output_json.b }}'),
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

      // `like` is case-sensitive, `grade` passes, and the program that fails ends with 1.
      expect(failures.map(line => line.replace(/^ *x\.test\.yaml:\d+: /u, ''))).toEqual([
        expect.stringContaining('hardware'),
        expect.stringContaining('returns false'),
        expect.stringContaining('ended with 1'),
      ]);
      expect(tested.stdout()).toContain("it scores 0: KeyError('none')");
    },
  );

  it('keeps the questions of graders, and lists a label after those that contain it', async () => {
    const project = new EvaluationProject({});
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
          name: 'label',
          model: 'o4-mini',
          input,
          labels: ['correct', 'incorrect'],
          passing_labels: ['correct'],
        },
        {
          type: 'score_model',
          name: 'score',
          model: 'gpt-4o',
          input,
          range: [1, 5],
          pass_threshold: 4,
        },
        {
          type: 'text_similarity',
          name: 'similarity',
          input: '{{sample.output_text}}',
          reference: '{{item.label}}',
          evaluation_metric: 'bleu',
          pass_threshold: 0.5,
        },
      ],
    });
    expect(stderr).toContain(
      'the criterion `similarity` measures `bleu >= 0.5`, which becomes a rubric',
    );

    const [firstCase] = project.readFiles().cases;
    expect(firstCase).toMatchObject({
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

  it.each([
    {
      name: 'has no equivalent, with its line',
      criterion: { type: 'multi', name: 'both', graders: {} },
      note: 'eval.json:35: the criterion `both` has no equivalent: `multi` is left out',
    },
    {
      name: 'checks the row and not the answer',
      criterion: createStringCheck('eq', '{{item.label}}', '{{item.ticket}}'),
      note: 'the criterion `eq` checks the row and not the answer: it is left out',
    },
    {
      name: 'refers to the tools of an answer',
      criterion: createStringCheck('eq', 'x', '{{sample.output_tools}}'),
      note: 'refers to `sample.output_tools`, which has no equivalent: it is left out',
    },
    {
      name: 'refers to an item of the tools of an answer',
      criterion: createStringCheck('eq', 'look', '{{sample.output_tools[0].function.name}}'),
      note: 'refers to `sample.output_tools.0.function.name`, which has no equivalent: it is left out',
    },
  ])('leaves out a criterion that $name', async ({ criterion, note }) => {
    const project = new EvaluationProject({});
    const definition = { input_messages: MESSAGES, testing_criteria: [criterion] };
    const { exitCode, stderr } = await project.convert(definition);
    expect(stderr).toContain(note);
    expect(exitCode).toBe(0);
  });

  it('names the line of a row that lacks an input, which is empty then', async () => {
    const project = new EvaluationProject({});
    const definition = { input_messages: MESSAGES, testing_criteria: [] };
    const { exitCode, stderr } = await project.convert(definition, '{"item": {"label": "x"}}\n');
    expect(stderr).toContain('items.jsonl:1: this row has no `ticket`: it is empty');
    expect(exitCode).toBe(0);
  });

  it.each([
    {
      name: 'rows that are not JSON',
      definition: {},
      rows: '{"item": {}}\n{',
      message: 'items.jsonl:2: this row is not JSON',
    },
    {
      name: 'rows that are not objects',
      definition: {},
      rows: '[1]',
      message: 'items.jsonl:1: a row must be a JSON object',
    },
    {
      name: 'pictures in a message',
      definition: { input_messages: [{ role: 'user', content: { type: 'input_image' } }] },
      rows: ROWS,
      message: 'content',
    },
    {
      name: 'rows of references alone',
      definition: {
        testing_criteria: [createStringCheck('eq', '{{item.ticket}}{{item.label}}{{item.facts}}')],
      },
      rows: ROWS,
      message: 'no field to ask for',
    },
  ])('refuses $name and writes nothing', async ({ definition, rows, message }) => {
    const project = new EvaluationProject({});
    const { exitCode, stderr } = await project.convert(
      { testing_criteria: [], ...definition },
      rows,
    );

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(message);
    expect(() => project.readFiles()).toThrow('ENOENT');
  });
});

describe("a row of OpenAI's Evals", () => {
  const formatPrompt = (input: string, tag: string): string =>
    `---\nmodel: echo\ninput:\n  schema:\n    ${input}: any\n---\n{{${tag}}}\n`;
  const TICKET_PROMPT = formatPrompt('ticket', 'ticket');
  const ITEM_PROMPT = formatPrompt('item', 'item.ticket');

  /** Runs `x.prompt` on the project's `items.jsonl`, which has one row. Returns its answers. */
  async function runBatch(project: Project): Promise<string[]> {
    await project.run(['batch', 'x.prompt', '--from', 'items.jsonl', '--out', 'results.jsonl']);
    const results = readFileSync(path.join(project.home, 'results.jsonl'), 'utf8');
    return (JSON.parse(results) as { outputs: { data: string }[] }).outputs.map(({ data }) => data);
  }

  it('is unwrapped by batch and compare', async () => {
    const project = new Project({
      'x.prompt': TICKET_PROMPT,
      'items.jsonl': '{"item": {"ticket": "a"}, "sample": {"output_text": "b"}}\n',
    });
    const compare = ['compare', 'x.prompt', 'x.prompt', '--from', 'items.jsonl', '--json'];
    expect(await runBatch(project)).toEqual(['a']);
    expect((await project.run(compare)).exitCode).toBe(0);
  });

  it('stays as it is if the prompt takes an item', async () => {
    const project = new Project({
      'x.prompt': ITEM_PROMPT,
      'items.jsonl': '{"item": {"ticket": "a"}}\n',
    });
    expect(await runBatch(project)).toEqual(['a']);
  });
});
