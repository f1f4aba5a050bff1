/**
 * The models that promptfoo asks if no judge is named, by the variable with the key; the first that
 * is set counts.
 */
export const DEFAULT_JUDGES: readonly (readonly [variable: string, model: string])[] = [
  ['OPENAI_API_KEY', 'openai/gpt-5.5-2026-04-23'],
  ['ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-4-6'],
  ['GEMINI_API_KEY', 'googleai/gemini-2.5-pro'],
  ['GOOGLE_API_KEY', 'googleai/gemini-2.5-pro'],
  ['MISTRAL_API_KEY', 'mistral/mistral-large-latest'],
  ['XAI_API_KEY', 'xai/grok-4.3'],
];
