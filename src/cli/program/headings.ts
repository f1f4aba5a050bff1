export const RUNNING = 'Run prompts:';
export const LOOKING = 'Look around:';
export const SETTING_UP = 'Set up:';
export const LOCAL = 'The local service:';

/** In the order help shows them. */
export const HEADINGS: readonly string[] = [RUNNING, LOOKING, SETTING_UP, LOCAL];
