const NAMES = {
  prompt: 'PROMPT',
  input: 'INPUT',
  fileInput: 'FILE_INPUT',
  model: 'MODEL',
  options: 'OPTIONS',
  schema: 'SCHEMA',
  test: 'TEST',
  record: 'RECORD',
  replay: 'REPLAY',
  baseUrl: 'BASE_URL',
  apiKey: 'API_KEY',
  version: 'VERSION',
};

/** The inputs of the action; an empty text for what was not given. */
export function readInputs(env) {
  const read = ([name, suffix]) => [name, (env[`PROMPTRUN_ACTION_${suffix}`] ?? '').trim()];
  return Object.fromEntries(Object.entries(NAMES).map(read));
}

/** The lines of an input that are not empty. */
export function lines(text) {
  return text.split(/\r?\n/u).filter(line => line.trim() !== '');
}

/** The `key=value` lines of an input. Throws an Error that names the input, never the value. */
export function pairs(text, name) {
  return lines(text).map((line, at) => {
    const equals = line.indexOf('=');
    if (equals < 1) throw new Error(`Line ${at + 1} of the input ${name} is not key=value`);
    return [line.slice(0, equals).trim(), line.slice(equals + 1)];
  });
}
