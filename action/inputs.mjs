const INPUT_NAMES = [
  'prompt',
  'prompt-file',
  'input',
  'file-input',
  'file_input',
  'system-prompt',
  'system-prompt-file',
  'model',
  'max-tokens',
  'endpoint',
  'token',
  'response-file',
  'options',
  'schema',
  'test',
  'allow-commands',
  'record',
  'replay',
  'base-url',
  'api-key',
  'version',
  'registry',
  'provider',
  'copilot-token',
  'copilot-model',
];

/** Returns the inputs of the action by their names; an empty text for one that was left out. */
export function readInputs(env) {
  return Object.fromEntries(
    INPUT_NAMES.map(name => [name, (env[toInputVariable(name)] ?? '').trim()]),
  );
}

/** Returns the environment variable in which the step gets an input. */
export function toInputVariable(name) {
  return `PROMPTRUN_ACTION_${name === 'file_input' ? 'FILE_INPUT_YAML' : name.replaceAll('-', '_').toUpperCase()}`;
}

/** Returns the lines of an input that are not empty. */
export function splitLines(text) {
  return text.split(/\r?\n/u).filter(line => line.trim() !== '');
}

/** Returns the `key=value` lines of an input. @throws {Error} naming the input, never the value */
export function parsePairs(text, inputName) {
  return splitLines(text).map((line, index) => {
    const equalsIndex = line.indexOf('=');
    if (equalsIndex < 1) {
      throw new Error(`Line ${index + 1} of the input ${inputName} is not key=value`);
    }
    return [line.slice(0, equalsIndex).trim(), line.slice(equalsIndex + 1)];
  });
}

/** Returns true for an input in YAML, which actions/ai-inference accepts, rather than in `key=value` lines. */
export function isYaml(text) {
  return /^[\w.-]+[ \t]*:(?:\s|$)/u.test(splitLines(text)[0] ?? '');
}

/** Returns the fields of a YAML map, each with its lines, which the command interprets. */
export function splitYamlFields(text) {
  const fields = new Map();
  let currentName;
  for (const line of text.split(/\r?\n/u)) {
    currentName = /^([\w.-]+)[ \t]*:/u.exec(line)?.[1] ?? currentName;
    if (currentName !== undefined) {
      fields.set(currentName, `${fields.get(currentName) ?? ''}${line}\n`);
    }
  }
  return fields;
}

/** Returns the text of a field on one line, without its quotes. */
export function readYamlText(field) {
  const [, text = ''] = /^[\w.-]+[ \t]*:[ \t]*([^\n]*)\n/u.exec(field) ?? [];
  const quotedText = /^(["'])(.*)\1$/u.exec(text.trim());
  return quotedText ? quotedText[2] : text.trim();
}
