/** The JSON Schema of a prompt file's front matter, for editors. */
export const FRONT_MATTER_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Front matter of a promptrun prompt file',
  type: 'object',
  properties: {
    title: { type: 'string', description: 'The title in lists' },
    description: { type: 'string', description: 'The purpose of the prompt, in one sentence' },
    model: {
      type: 'string',
      description: 'The model to run with, such as openai/gpt-6-luna; echo if left out',
    },
    config: {
      type: 'object',
      description: "Default run options, and settings for the model's provider",
      properties: {
        temperature: { type: 'number', minimum: 0 },
        maxOutputTokens: { type: 'integer', minimum: 1 },
        topP: { type: 'number', minimum: 0, maximum: 1 },
        topK: { type: 'integer', minimum: 1 },
        stopSequences: { type: 'array', items: { type: 'string' } },
      },
    },
    input: {
      type: 'object',
      properties: {
        schema: { $ref: '#/$defs/schema', description: 'The inputs, as Picoschema or JSON Schema' },
        default: { type: 'object', description: 'Values for inputs that are left out' },
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        format: { enum: ['text', 'json'], description: 'With json, the answer must be JSON' },
        named: {
          type: 'object',
          description: 'The description of the schema that the provider receives',
          properties: {
            name: { type: 'string' },
            description: { type: 'string' },
            strict: { type: 'boolean' },
          },
          additionalProperties: false,
        },
        extract: {
          enum: ['first', 'last'],
          description: 'The code block of the answer that is the output',
        },
        schema: {
          $ref: '#/$defs/schema',
          description: 'The schema that the answer must match, as Picoschema or JSON Schema',
        },
      },
      additionalProperties: false,
    },
    name: { type: 'string' },
    variant: { type: 'string' },
    version: { type: 'string' },
    metadata: { type: 'object' },
    ext: { type: 'object' },
    tools: { type: 'array' },
    toolDefs: { type: 'array' },
    maxTurns: { type: 'integer' },
  },
  patternProperties: { '\\.': true },
  additionalProperties: false,
  $defs: {
    schema: { anyOf: [{ type: 'string' }, { type: 'object' }] },
  },
} as const;
