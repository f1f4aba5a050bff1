import type { EXPECTATIONS } from '../expectations/expectation.ts';

const TEXT = { type: 'string', minLength: 1 };
const COUNT = { type: 'integer', minimum: 1 };

const AMOUNT = { type: 'number', minimum: 0 };
const WORD = { type: ['string', 'number', 'boolean'] };
const SCHEMA = { type: ['string', 'object', 'boolean'] };

const EXPECTATION_VALUES: Record<(typeof EXPECTATIONS)[number], object> = {
  json: { description: 'JSON; every field named must be equal, others may be anything' },
  jmespath: { ...TEXT, description: 'a JMESPath expression that must be true of the answer' },
  contains: { ...WORD, description: 'a text that must be in the answer' },
  icontains: { ...WORD, description: 'the same, whatever the case of letters' },
  startsWith: { ...WORD, description: 'how the answer must begin' },
  istartsWith: { ...WORD, description: 'the same, whatever the case of letters' },
  endsWith: { ...WORD, description: 'how the answer must end' },
  iendsWith: { ...WORD, description: 'the same, whatever the case of letters' },
  equals: { ...WORD, description: 'the whole answer' },
  matches: { ...TEXT, description: 'a regular expression that must match the answer' },
  schema: { ...SCHEMA, description: 'a JSON Schema that the answer must match, or the file that holds it' },
  containsJson: {
    ...SCHEMA,
    description: 'true, or the JSON Schema of a JSON value somewhere in the answer',
  },
  not: { $ref: '#/$defs/expectation', description: 'an expectation that must not be met' },
  any: {
    type: 'array',
    items: { $ref: '#/$defs/expectation' },
    minItems: 1,
    description: 'expectations, at least one of which must be met',
  },
  seconds: { type: 'number', exclusiveMinimum: 0, description: 'the longest the run may take' },
  tokens: { ...AMOUNT, description: 'the most service tokens the run may take' },
  cost: { ...AMOUNT, description: 'the most the run may cost, in US dollars' },
  rubric: { ...TEXT, description: 'what the model named by --judge must find true of the answer' },
  llm: {
    type: 'object',
    description: 'a question to a model about the answer, which {{completion}} stands for',
    properties: {
      prompt: TEXT,
      systemPrompt: TEXT,
      model: TEXT,
      modelId: TEXT,
      choices: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { choice: WORD, score: { type: 'number' } },
          required: ['choice', 'score'],
          additionalProperties: false,
        },
      },
    },
    required: ['prompt', 'choices'],
    additionalProperties: false,
  },
  command: {
    anyOf: [TEXT, { type: 'array', items: WORD, minItems: 1 }],
    description: 'a program that must end with 0; the answer is its standard input (--allow-commands)',
  },
};

/** The JSON Schema of a test file, for editors that complete and check with one. */
export function testFileSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tests of a prompt, for promptrun test',
    type: 'object',
    properties: {
      target: {
        ...TEXT,
        description: 'a prompt file, slug, version id or alias; by default the prompt file beside it',
      },
      model: { ...TEXT, description: 'run with this model in place of the one the prompt names' },
      models: { type: 'array', items: TEXT, minItems: 1, description: 'run every case with each of these' },
      trim: {
        type: 'boolean',
        description: 'whether expectations see the answer without blank space at its ends; false by default',
      },
      cases: { type: 'array', items: { $ref: '#/$defs/case' }, minItems: 1 },
    },
    required: ['cases'],
    not: { required: ['model', 'models'] },
    additionalProperties: false,
    $defs: {
      case: {
        type: 'object',
        properties: {
          name: TEXT,
          inputs: {
            type: 'object',
            description: 'text inputs; "@file" reads a file, "@@x" is the literal @x',
          },
          images: { type: 'array', items: TEXT, description: 'files or https URLs, in order' },
          options: { type: 'object', description: 'run options' },
          expect: {
            anyOf: [
              { type: 'array', items: { $ref: '#/$defs/expectation' }, minItems: 1 },
              { $ref: '#/$defs/expectation' },
            ],
          },
          repeat: { ...COUNT, maximum: 1000, description: 'how often it runs; once by default' },
          pass: { ...COUNT, description: 'how many of the repetitions must pass; all by default' },
        },
        additionalProperties: false,
      },
      expectation: {
        type: 'object',
        properties: EXPECTATION_VALUES,
        minProperties: 1,
        additionalProperties: false,
      },
    },
  };
}
