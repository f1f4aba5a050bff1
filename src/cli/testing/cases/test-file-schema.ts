import type { EXPECTATIONS } from '../expectations/read-expectations.ts';

const TEXT = { type: 'string', minLength: 1 };
const COUNT = { type: 'integer', minimum: 1 };

const EXPECTATION_VALUES: Record<(typeof EXPECTATIONS)[number], object> = {
  json: { description: 'JSON; every field given must be equal, others may be anything' },
  jmespath: { ...TEXT, description: 'a JMESPath expression that must be true of the answer' },
  contains: { ...TEXT, description: 'a text that must be in the answer' },
  matches: { ...TEXT, description: 'a regular expression that must match the answer' },
  schema: { ...TEXT, description: 'a file with the JSON Schema that the answer must match' },
  equals: { type: ['string', 'number', 'boolean'], description: 'the whole answer' },
  not: { $ref: '#/$defs/expectation', description: 'an expectation that must not be met' },
  seconds: { type: 'number', exclusiveMinimum: 0, description: 'the longest the run may take' },
  rubric: { ...TEXT, description: 'what the model given as --judge must find true of the answer' },
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
          repeat: { ...COUNT, description: 'how often it runs; once by default' },
          pass: { ...COUNT, description: 'how many of the repetitions must pass; all by default' },
        },
        required: ['expect'],
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
