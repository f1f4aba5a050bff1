/** The engines a model can be run by. */
export type EngineName = 'echo' | 'card' | 'sandbox' | 'openai-compatible';
