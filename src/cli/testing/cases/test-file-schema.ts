import { TEXT_SCHEMA } from '../expectations/expectation-kind.ts';
import { EXPECTATION_KINDS } from '../expectations/expectation-kinds.ts';
import { MAX_REPEAT } from './repeat-cases.ts';

const COUNT_SCHEMA = { type: 'integer', minimum: 1 };

/** A count, or a percentage such as 80%. */
const PASS_SCHEMA = {
  anyOf: [
    COUNT_SCHEMA,
    { type: 'string', pattern: String.raw`^(100(\.0+)?|\d{1,2}(\.\d{1,9})?)%$` },
  ],
};

const JUDGE_DESCRIPTION = 'the model that judges rubrics; --judge overrides it';
const TRANSFORM_DESCRIPTION = 'JavaScript that transforms the answer before it is checked';

/** A model with a config that replaces the prompt's. */
const MODEL_SCHEMA = {
  type: 'object',
  properties: {
    model: TEXT_SCHEMA,
    config: { type: 'object' },
    transform: { ...TEXT_SCHEMA, description: TRANSFORM_DESCRIPTION },
  },
  required: ['model'],
  additionalProperties: false,
};

/** A case of a test file. */
const CASE_SCHEMA = {
  type: 'object',
  properties: {
    name: TEXT_SCHEMA,
    inputs: {
      type: 'object',
      description: 'text inputs; "@file" reads a file, "@@x" is the literal @x',
    },
    images: {
      type: 'array',
      items: TEXT_SCHEMA,
      description: 'files or https URLs, in order',
    },
    options: { type: 'object', description: 'run options' },
    vars: { type: 'object', description: 'values that only expectations see' },
    transform: { ...TEXT_SCHEMA, description: TRANSFORM_DESCRIPTION },
    judge: { ...TEXT_SCHEMA, description: JUDGE_DESCRIPTION },
    expect: {
      anyOf: [
        { type: 'array', items: { $ref: '#/$defs/expectation' } },
        { $ref: '#/$defs/expectation' },
      ],
    },
    repeat: {
      ...COUNT_SCHEMA,
      maximum: MAX_REPEAT,
      description: 'how often the case runs; once by default',
    },
    pass: {
      ...PASS_SCHEMA,
      description:
        'how many of the repetitions must pass; by default pass of the file, or else all',
    },
  },
  additionalProperties: false,
};

/** A map with one or more kinds of expectations. */
const EXPECTATION_SCHEMA = {
  type: 'object',
  properties: {
    ...Object.fromEntries(
      Object.entries(EXPECTATION_KINDS).map(([name, { schema }]) => [name, schema]),
    ),
    threshold: {
      type: 'number',
      minimum: 0,
      description: 'the lowest score of javascript or rubric that passes',
    },
    transform: { ...TEXT_SCHEMA, description: TRANSFORM_DESCRIPTION },
    judge: { ...TEXT_SCHEMA, description: JUDGE_DESCRIPTION },
  },
  minProperties: 1,
  additionalProperties: false,
};

/** Returns the JSON Schema of a test file, for completion and checks in editors. */
export function buildTestFileSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tests of a prompt, for promptrun test',
    type: 'object',
    properties: {
      target: {
        ...TEXT_SCHEMA,
        description:
          'a prompt file, slug, version id or alias; by default the prompt file next to the test file',
      },
      model: {
        ...TEXT_SCHEMA,
        description: 'run with this model instead of the one that the prompt names',
      },
      models: {
        type: 'array',
        items: { anyOf: [TEXT_SCHEMA, MODEL_SCHEMA] },
        minItems: 1,
        description: 'run every case with each of these models',
      },
      trim: {
        type: 'boolean',
        description: 'true to trim the answer before expectations see it; false by default',
      },
      transform: { ...TEXT_SCHEMA, description: TRANSFORM_DESCRIPTION },
      judge: { ...TEXT_SCHEMA, description: JUDGE_DESCRIPTION },
      pass: {
        ...PASS_SCHEMA,
        description: 'how many of the repetitions of every case must pass; all by default',
      },
      cases: { type: 'array', items: { $ref: '#/$defs/case' }, minItems: 1 },
    },
    required: ['cases'],
    not: { required: ['model', 'models'] },
    additionalProperties: false,
    $defs: {
      case: CASE_SCHEMA,
      expectation: EXPECTATION_SCHEMA,
    },
  };
}
