import { OPENAI_LIKE_PROVIDERS } from './provider-base-url.ts';

/**
 * Patterns of the prefixes that promptfoo gives models, with our prefixes. The names in a `(?!…)`
 * are promptfoo's providers that don't write text, or don't speak the provider's chat interface.
 */
const MODEL_PREFIXES: readonly (readonly [pattern: RegExp, ownPrefix: string])[] = [
  ...OPENAI_LIKE_PROVIDERS.map(({ prefix, name }) => [prefix, `${name}/`] as const),
  [
    /^openai:(?!(?:completion|embeddings?|image|moderation|realtime|assistant|speech|transcription|tts|video|agents|codex|chatkit)\b)(?:chat:|responses:)?/u,
    'openai/',
  ],
  [/^anthropic:(?!completion\b|claude-agent|claude-code)(?:messages:)?/u, 'anthropic/'],
  [/^ollama:(?!embeddings?\b)(?:chat:|completion:)?/u, 'ollama/'],
  [/^google:(?!embedding|image|live)/u, 'googleai/'],
  [/^vertex:(?!embedding|image)(?:chat:)?/u, 'vertexai/'],
  [
    /^azure(?:openai)?:(?!embeddings?|completion|assistant|foundry|image|video)(?:chat:|responses:)?/u,
    'azure/',
  ],
  [
    /^bedrock:(?!embeddings?|image|video|nova-sonic|agents|agentcore|kb|opensearch)(?:completion:|converse:)?/u,
    'bedrock/',
  ],
  [/^openrouter:/u, 'openrouter/'],
  [/^groq:/u, 'groq/'],
  [/^mistral:(?!embedding)/u, 'mistral/'],
  [/^deepseek:/u, 'deepseek/'],
  [/^xai:(?!image|video|voice)(?:responses:)?/u, 'xai/'],
  [/^togetherai:(?!completion|embedding|image)(?:chat:)?/u, 'together/'],
  [/^fireworks:/u, 'fireworks/'],
  [/^cerebras:/u, 'cerebras/'],
  // At GitHub Models, OpenAI's models could also be named without their publisher.
  [/^github:(?=(?:gpt-|o\d|chatgpt-)[^/]*$)/u, 'openai/'],
  [/^github:/u, ''],
];

/** Returns our name of a provider's model; undefined if we have none. */
export function findModelName(id: string): string | undefined {
  if (id === 'echo') return id;
  for (const [pattern, ownPrefix] of MODEL_PREFIXES) {
    const model = id.replace(pattern, '');
    if (model !== id && model !== '') return ownPrefix + model;
  }
  return undefined;
}
