import type OpenAI from 'openai';
import type { ChatDialect } from './chat-dialects.ts';
import type { ProviderAnswer } from './fake-provider.ts';
import {
  constant,
  FLAG,
  formatPath,
  getNamedModel,
  getValueAt,
  INTEGER,
  type InterfaceRules,
  lenient,
  listOf,
  NUMBER,
  OBJECT,
  object,
  oneOf,
  type ParameterFault,
  TEXT,
} from './interface-rules.ts';
import { needsKey, openaiError, wrongParameter } from './openai.ts';

const OPENAI_PARAMETERS = {
  background: TEXT,
  model: TEXT,
  moderation: TEXT,
  n: INTEGER,
  output_compression: INTEGER,
  output_format: TEXT,
  partial_images: INTEGER,
  prompt: TEXT,
  quality: TEXT,
  response_format: { enum: ['url', 'b64_json'] },
  size: { type: 'string', pattern: '^(auto|\\d+x\\d+)$' },
  stream: FLAG,
  style: TEXT,
  user: TEXT,
} satisfies Partial<Record<keyof OpenAI.ImageGenerateParams, object>>;

const GPT_IMAGE_SIZES = ['1024x1024', '1536x1024', '1024x1536', 'auto'];

const OPENAI: InterfaceRules = {
  headers: needsKey,
  parameters: object(OPENAI_PARAMETERS, 'prompt'),
  refuse: wrongParameter,
  rules: [
    body =>
      /gpt-image/.test(getNamedModel(body)) && body['response_format'] !== undefined
        ? openaiError("Unknown parameter: 'response_format'.", {
            param: 'response_format',
            code: 'unknown_parameter',
          })
        : undefined,
    body =>
      /gpt-image/.test(getNamedModel(body)) &&
      !GPT_IMAGE_SIZES.some(size => size === (body['size'] ?? 'auto'))
        ? openaiError(
            `Invalid value: '${JSON.stringify(body['size'])}'. Supported values are: '1024x1024', '1024x1536', '1536x1024', and 'auto'.`,
            {
              param: 'size',
              code: 'invalid_value',
            },
          )
        : undefined,
  ],
};

const XAI_PICTURE = object({ url: TEXT, type: constant('image_url') }, 'url');

const XAI: InterfaceRules = {
  headers: needsKey,
  parameters: object(
    {
      aspect_ratio: TEXT,
      image: XAI_PICTURE,
      images: listOf(XAI_PICTURE),
      model: TEXT,
      n: INTEGER,
      prompt: TEXT,
      quality: TEXT,
      resolution: TEXT,
      response_format: { enum: ['url', 'b64_json'] },
      user: TEXT,
    },
    'prompt',
  ),
  refuse: ({ path }): ProviderAnswer => ({
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: `Argument not supported: ${formatPath(path)}`,
    },
  }),
  rules: [],
};

const TOGETHER: InterfaceRules = {
  headers: needsKey,
  parameters: object(
    {
      disable_safety_checker: FLAG,
      guidance_scale: NUMBER,
      height: INTEGER,
      image_loras: listOf(OBJECT),
      image_url: TEXT,
      model: TEXT,
      n: INTEGER,
      negative_prompt: TEXT,
      output_format: TEXT,
      prompt: TEXT,
      reference_images: listOf(TEXT),
      response_format: { enum: ['base64', 'url'] },
      seed: INTEGER,
      steps: INTEGER,
      width: INTEGER,
    },
    'prompt',
    'model',
  ),
  refuse: ({ path }) =>
    openaiError(`Unrecognized or invalid field: ${formatPath(path)}`, { param: formatPath(path) }),
  rules: [],
};

/** Images by the path that OpenAI gave them, as each provider takes them. */
export const IMAGES: Partial<Record<ChatDialect, InterfaceRules>> = {
  openai: OPENAI,
  xai: XAI,
  together: TOGETHER,
};

const fireworksError = ({ path }: ParameterFault): ProviderAnswer => ({
  status: 400,
  body: {
    error: {
      object: 'error',
      type: 'invalid_request_error',
      message: `${formatPath(path)}: invalid`,
    },
  },
});

/**
 * The workflows of Fireworks ignore what they don't know; a picture to change is known to Kontext
 * alone.
 */
export const FIREWORKS_WORKFLOW: InterfaceRules = {
  headers: needsKey,
  parameters: lenient(
    object(
      {
        aspect_ratio: { type: 'string', pattern: '^\\d+:\\d+$' },
        guidance_scale: NUMBER,
        num_inference_steps: INTEGER,
        prompt: TEXT,
        seed: INTEGER,
      },
      'prompt',
    ),
  ),
  refuse: fireworksError,
  rules: [
    (body, { path }) =>
      body['input_image'] !== undefined && !path.includes('kontext')
        ? fireworksError({ kind: 'unknown', path: ['input_image'], value: '' })
        : undefined,
    body =>
      body['width'] !== undefined || body['height'] !== undefined
        ? fireworksError({ kind: 'unknown', path: ['width'], value: '' })
        : undefined,
  ],
};

/** The endpoint for the finished picture of Kontext. */
export const FIREWORKS_RESULT: InterfaceRules = {
  headers: needsKey,
  parameters: object({ id: TEXT }, 'id'),
  refuse: fireworksError,
  rules: [],
};

const SIZE = { type: 'integer', minimum: 320, maximum: 4096, multipleOf: 16 } as const;

const DRAWING = object({
  cfgScale: NUMBER,
  height: SIZE,
  numberOfImages: { type: 'integer', minimum: 1, maximum: 5 },
  quality: { enum: ['standard', 'premium'] },
  seed: INTEGER,
  width: SIZE,
});

/** Amazon's own models that draw. */
export const NOVA_CANVAS: InterfaceRules = {
  parameters: oneOf(
    object(
      {
        taskType: constant('TEXT_IMAGE'),
        textToImageParams: object({ text: TEXT, negativeText: TEXT, style: TEXT }, 'text'),
        imageGenerationConfig: DRAWING,
      },
      'taskType',
      'textToImageParams',
    ),
    object(
      {
        taskType: constant('IMAGE_VARIATION'),
        imageVariationParams: object(
          { images: listOf(TEXT), text: TEXT, negativeText: TEXT, similarityStrength: NUMBER },
          'images',
        ),
        imageGenerationConfig: DRAWING,
      },
      'taskType',
      'imageVariationParams',
    ),
  ),
  refuse: ({ path }) => ({
    status: 400,
    headers: { 'x-amzn-errortype': 'ValidationException' },
    body: {
      message: `Malformed input request: #/${path.join('/')}: is not permitted, please reformat your input and try again.`,
    },
  }),
  rules: [
    body =>
      getValueAt(body, 'textToImageParams', 'text') === ''
        ? {
            status: 400,
            body: {
              message: 'Malformed input request: #/textToImageParams/text: expected minLength: 1',
            },
          }
        : undefined,
  ],
};
