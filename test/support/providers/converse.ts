import {
  formatPath,
  INTEGER,
  type InterfaceRules,
  LIST,
  listOf,
  NUMBER,
  OBJECT,
  object,
  oneOf,
  TEXT,
} from './interface-rules.ts';

const BLOCK = oneOf(
  object({ text: TEXT }, 'text'),
  object(
    {
      image: object({ format: TEXT, source: object({ bytes: TEXT }, 'bytes') }, 'format', 'source'),
    },
    'image',
  ),
  object({ cachePoint: OBJECT }, 'cachePoint'),
);

/** Converse at Amazon Bedrock, for models other than Claude. */
export const CONVERSE: InterfaceRules = {
  parameters: object(
    {
      messages: listOf(
        object(
          { role: { enum: ['user', 'assistant'] }, content: listOf(BLOCK) },
          'role',
          'content',
        ),
      ),
      system: listOf(BLOCK),
      inferenceConfig: object({
        maxTokens: INTEGER,
        temperature: NUMBER,
        topP: NUMBER,
        stopSequences: listOf(TEXT),
      }),
      toolConfig: object({ tools: LIST, toolChoice: OBJECT }),
      guardrailConfig: OBJECT,
      additionalModelRequestFields: OBJECT,
      additionalModelResponseFieldPaths: listOf(TEXT),
      outputConfig: OBJECT,
      performanceConfig: OBJECT,
      promptVariables: OBJECT,
      requestMetadata: OBJECT,
      serviceTier: OBJECT,
    },
    'messages',
  ),
  refuse: ({ kind, path }) => ({
    status: 400,
    body: {
      message:
        kind === 'unknown'
          ? `Malformed input request: #: extraneous key [${formatPath(path)}] is not permitted, please reformat your input and try again.`
          : `Malformed input request: ${formatPath(path)}, please reformat your input and try again.`,
    },
  }),
  rules: [
    ({ inferenceConfig }) => {
      const { topP, temperature } = (inferenceConfig ?? {}) as {
        topP?: number;
        temperature?: number;
      };
      return (topP ?? 0) > 1 || (temperature ?? 0) > 1
        ? {
            status: 400,
            body: {
              message:
                "1 validation error detected: Value at 'inferenceConfig.temperature' failed to satisfy constraint: Member must have value less than or equal to 1",
            },
          }
        : undefined;
    },
  ],
};
