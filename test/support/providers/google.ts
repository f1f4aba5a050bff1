import type { GenerationConfig } from '@google/genai';
import type { ProviderAnswer, ProviderRequest } from './fake-provider.ts';
import {
  ANY,
  FLAG,
  getValueAt,
  INTEGER,
  type InterfaceRules,
  LIST,
  listOf,
  NUMBER,
  OBJECT,
  object,
  oneOf,
  type ParameterFault,
  type Rule,
  type Schema,
  TEXT,
} from './interface-rules.ts';

/** Gemini 2.5 and newer take no penalties; 2.5 and older think by a budget, not by a level. */
const WITHOUT_PENALTIES = /gemini-(2\.5|[3-9])/;
const WITHOUT_LEVEL = /gemini-[12]/;

/** Returns an error in Google's form. */
export function googleError(
  code: number,
  status: string,
  message: string,
  details?: readonly object[],
): ProviderAnswer {
  return {
    status: code,
    body: { error: { code, message, status, ...(details ? { details } : {}) } },
  };
}

/** Returns the same as Google's endpoint of Chat Completions sends it: in a list. */
export function inGoogleList({ status, headers, body }: ProviderAnswer): ProviderAnswer {
  return { status: status ?? 200, ...(headers ? { headers } : {}), body: [body] };
}

/** Writes a name with underscores, as Google does in all of its errors. */
const snake = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

function unknownName(path: readonly string[]): ProviderAnswer {
  const place = path
    .slice(0, -1)
    .map(step => (/^\d+$/.test(step) ? `[${step}]` : snake(step)))
    .join('.');
  const at = place === '' ? '' : ` at '${place.replaceAll('.[', '[')}'`;
  const description = `Invalid JSON payload received. Unknown name "${path.at(-1) ?? ''}"${at}: Cannot find field.`;

  return googleError(400, 'INVALID_ARGUMENT', description, [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: place, description }],
    },
  ]);
}

export function refuseGoogleParameter({ kind, path, value }: ParameterFault): ProviderAnswer {
  if (kind === 'unknown') return unknownName(path);
  const place = path.map(snake).join('.');
  const message =
    kind === 'missing'
      ? `* GenerateContentRequest.${place}: ${place} is not specified`
      : `Invalid value at '${place}': ${JSON.stringify(value)}`;
  return googleError(400, 'INVALID_ARGUMENT', message);
}

const PART = object({
  text: TEXT,
  inlineData: object({ mimeType: TEXT, data: TEXT }, 'mimeType', 'data'),
  thought: FLAG,
  thoughtSignature: TEXT,
});

/** Google's own schema language; a keyword outside it is an unknown name. */
const SCHEMA: Schema = {
  $id: 'google-schema',
  ...object({
    type: oneOf(TEXT, listOf(TEXT)),
    format: TEXT,
    title: TEXT,
    description: TEXT,
    nullable: FLAG,
    enum: listOf(TEXT),
    items: { $ref: 'google-schema#' },
    minItems: ANY,
    maxItems: ANY,
    properties: { type: 'object', additionalProperties: { $ref: 'google-schema#' } },
    required: listOf(TEXT),
    minProperties: ANY,
    maxProperties: ANY,
    minimum: NUMBER,
    maximum: NUMBER,
    minLength: ANY,
    maxLength: ANY,
    pattern: TEXT,
    example: ANY,
    anyOf: listOf({ $ref: 'google-schema#' }),
    propertyOrdering: listOf(TEXT),
    default: ANY,
  }),
};

const GENERATION_CONFIG = {
  candidateCount: INTEGER,
  enableEnhancedCivicAnswers: FLAG,
  frequencyPenalty: NUMBER,
  // The package puts it here, though its type does not have it.
  imageConfig: OBJECT,
  logprobs: INTEGER,
  maxOutputTokens: INTEGER,
  mediaResolution: TEXT,
  presencePenalty: NUMBER,
  responseJsonSchema: OBJECT,
  responseLogprobs: FLAG,
  responseMimeType: TEXT,
  responseModalities: listOf(TEXT),
  responseSchema: SCHEMA,
  seed: INTEGER,
  speechConfig: OBJECT,
  stopSequences: { ...listOf(TEXT), maxItems: 5 },
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  thinkingConfig: object({ includeThoughts: FLAG, thinkingBudget: INTEGER, thinkingLevel: TEXT }),
  topK: NUMBER,
  topP: NUMBER,
} satisfies Partial<Record<keyof GenerationConfig | 'imageConfig', Schema>>;

function getModelName({ path }: ProviderRequest): string {
  return /\/models\/([^:/]+):/.exec(path)?.[1] ?? '';
}

const RULES: readonly Rule[] = [
  (body, request) =>
    WITHOUT_PENALTIES.test(getModelName(request)) &&
    ['presencePenalty', 'frequencyPenalty'].some(name => getValueAt(body, 'generationConfig', name))
      ? googleError(
          400,
          'INVALID_ARGUMENT',
          `Penalty is not enabled for models/${getModelName(request)}`,
        )
      : undefined,
  (body, request) =>
    WITHOUT_LEVEL.test(getModelName(request)) &&
    getValueAt(body, 'generationConfig', 'thinkingConfig', 'thinkingLevel') !== undefined
      ? googleError(400, 'INVALID_ARGUMENT', 'Thinking level is not supported for this model.')
      : undefined,
];

/** `generateContent` at Google AI and Vertex AI. */
export const GENERATE_CONTENT: InterfaceRules = {
  headers: ({ headers, path }) =>
    headers['x-goog-api-key'] || headers.authorization || path.includes('key=')
      ? undefined
      : googleError(
          403,
          'PERMISSION_DENIED',
          "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
        ),
  parameters: object(
    {
      contents: {
        ...listOf(object({ role: { enum: ['user', 'model'] }, parts: listOf(PART) }, 'parts')),
        minItems: 1,
      },
      systemInstruction: object({ role: TEXT, parts: listOf(PART) }, 'parts'),
      generationConfig: object(GENERATION_CONFIG),
      safetySettings: listOf(object({ category: TEXT, threshold: TEXT, method: TEXT })),
      tools: LIST,
      toolConfig: OBJECT,
      cachedContent: TEXT,
      labels: OBJECT,
      serviceTier: TEXT,
    },
    'contents',
  ),
  refuse: refuseGoogleParameter,
  rules: RULES,
};
