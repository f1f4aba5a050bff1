import type { InterfaceName } from '../model-entry.ts';

export interface ProviderData {
  readonly name: string;
  /** The address; `{NAME}` stands for the value of an environment variable. */
  readonly baseUrl: string;
  /** The interface that it speaks. */
  readonly interfaceName: InterfaceName;
  /** Returns true for addresses that take Chat Completions instead. */
  readonly takesChatAt?: (url: URL) => boolean;
  /**
   * The variables of its key, named as in its own tools; the first that is set counts. Empty for a
   * local provider.
   */
  readonly keyVariables?: readonly string[];
  /** Other prefixes of its models. */
  readonly aliases?: readonly string[];
  /** The start of its `_BASE_URL` variable, if that is not its name. */
  readonly addressVariablePrefix?: string;
  /** Default true: see `Provider.listsModels`. */
  readonly listsModels?: boolean;
  /** True if it takes batches at a lower price. */
  readonly takesBatches?: boolean;
}

/** The known providers, in display order. */
export const PROVIDERS: readonly ProviderData[] = [
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    interfaceName: 'openai-responses',
    // Regions have hosts such as eu.api.openai.com. Few other servers implement Responses.
    takesChatAt: ({ hostname }) => !/^(?:[a-z0-9-]+\.)?api\.openai\.com$/.test(hostname),
    takesBatches: true,
  },
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keyVariables: ['ANTHROPIC_API_KEY'],
    interfaceName: 'anthropic',
    takesBatches: true,
  },
  {
    name: 'googleai',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    interfaceName: 'google',
    takesChatAt: ({ pathname }) => pathname.endsWith('/openai'),
    aliases: ['google', 'gemini'],
    addressVariablePrefix: 'GEMINI',
  },
  {
    name: 'vertexai',
    baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google',
    keyVariables: ['GOOGLE_VERTEX_API_KEY'],
    interfaceName: 'vertexai',
    listsModels: false,
  },
  {
    name: 'azure',
    baseUrl: 'https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1',
    keyVariables: ['AZURE_API_KEY'],
    interfaceName: 'azure',
    // Azure lists models that could be deployed, not deployments.
    listsModels: false,
  },
  {
    name: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{AWS_REGION}.amazonaws.com',
    keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
    interfaceName: 'bedrock',
    listsModels: false,
  },
  {
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    interfaceName: 'openrouter',
  },
  {
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariables: ['GROQ_API_KEY'],
    interfaceName: 'groq',
  },
  {
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariables: ['MISTRAL_API_KEY'],
    interfaceName: 'mistral',
  },
  {
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariables: ['DEEPSEEK_API_KEY'],
    interfaceName: 'deepseek',
  },
  {
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    keyVariables: ['XAI_API_KEY'],
    interfaceName: 'xai',
  },
  {
    name: 'together',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariables: ['TOGETHER_API_KEY'],
    interfaceName: 'together',
  },
  {
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariables: ['FIREWORKS_API_KEY'],
    interfaceName: 'fireworks',
  },
  {
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariables: ['CEREBRAS_API_KEY'],
    interfaceName: 'cerebras',
  },
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', interfaceName: 'openai' },
  { name: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1', interfaceName: 'openai' },
  { name: 'llamacpp', baseUrl: 'http://127.0.0.1:8080/v1', interfaceName: 'openai' },
  { name: 'vllm', baseUrl: 'http://127.0.0.1:8000/v1', interfaceName: 'openai' },
];
