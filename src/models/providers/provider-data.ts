import type { InterfaceName } from '../model-entry.ts';

export interface ProviderData {
  readonly name: string;
  /** The address; `{NAME}` stands for the value of an environment variable. */
  readonly baseUrl: string;
  /** The interface that it speaks. */
  readonly engine: InterfaceName;
  /** Returns true for addresses that take Chat Completions instead. */
  readonly asksChatAt?: (url: URL) => boolean;
  /**
   * The variables of its key, named as in its own tools; the first that is set counts. Empty for a
   * local provider.
   */
  readonly keys?: readonly string[];
  /** Other prefixes of its models. */
  readonly aliases?: readonly string[];
  /** The start of its `_BASE_URL` variable, if that is not its name. */
  readonly variable?: string;
  /** Default true: see `Provider.listsModels`. */
  readonly listsModels?: boolean;
  /** True if it takes batches at a lower price. */
  readonly batch?: boolean;
}

/** The known providers, in display order. */
export const PROVIDERS: readonly ProviderData[] = [
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    engine: 'openai-responses',
    // Regions have hosts such as eu.api.openai.com. Few other servers implement Responses.
    asksChatAt: ({ hostname }) => !/^(?:[a-z0-9-]+\.)?api\.openai\.com$/.test(hostname),
    batch: true,
  },
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keys: ['ANTHROPIC_API_KEY'],
    engine: 'anthropic',
    batch: true,
  },
  {
    name: 'googleai',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    engine: 'google',
    asksChatAt: ({ pathname }) => pathname.endsWith('/openai'),
    aliases: ['google', 'gemini'],
    variable: 'GEMINI',
  },
  {
    name: 'vertexai',
    baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google',
    keys: ['GOOGLE_VERTEX_API_KEY'],
    engine: 'vertexai',
    listsModels: false,
  },
  {
    name: 'azure',
    baseUrl: 'https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1',
    keys: ['AZURE_API_KEY'],
    engine: 'azure',
    // Azure lists models that could be deployed, not deployments.
    listsModels: false,
  },
  {
    name: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{AWS_REGION}.amazonaws.com',
    keys: ['AWS_BEARER_TOKEN_BEDROCK'],
    engine: 'bedrock',
    listsModels: false,
  },
  {
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY'],
    engine: 'openrouter',
  },
  {
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    engine: 'groq',
  },
  {
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    engine: 'mistral',
  },
  {
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    keys: ['DEEPSEEK_API_KEY'],
    engine: 'deepseek',
  },
  { name: 'xai', baseUrl: 'https://api.x.ai/v1', keys: ['XAI_API_KEY'], engine: 'xai' },
  {
    name: 'together',
    baseUrl: 'https://api.together.xyz/v1',
    keys: ['TOGETHER_API_KEY'],
    engine: 'together',
  },
  {
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keys: ['FIREWORKS_API_KEY'],
    engine: 'fireworks',
  },
  {
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    engine: 'cerebras',
  },
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', engine: 'openai' },
  { name: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1', engine: 'openai' },
  { name: 'llamacpp', baseUrl: 'http://127.0.0.1:8080/v1', engine: 'openai' },
  { name: 'vllm', baseUrl: 'http://127.0.0.1:8000/v1', engine: 'openai' },
];
