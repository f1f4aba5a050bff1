import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isYaml, parsePairs, readYamlText, splitYamlFields } from './inputs.mjs';

const PROMPT_FILE = /\.prompt(?:\.ya?ml)?$/u;

/** Matches files of other tools. Markdown and text need a folder in their name, because words may end like them. */
const OTHER_PROMPT_FILE = /^[^\r\n]*(?:[\\/][^\r\n]*\.(?:md|markdown|txt)|\.ya?ml)$/iu;

const GITHUB_MODELS_FILE = /\.prompt\.ya?ml$/u;
const PROMPT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;
const PROMPT_SLUG = /^[a-z0-9][a-z0-9-]*(?:@[0-9a-f-]+)?$/u;

/** The defaults of actions/ai-inference. */
const AI_INFERENCE_DEFAULTS = { model: 'openai/gpt-4o', system: 'You are a helpful assistant' };

/**
 * Returns the target that the inputs name, and its flags. Words fill the placeholders of a prompt file that is written for
 * this step, so that nothing in them is a template.
 */
export function resolveTarget(inputs, directory, warn) {
  const { prompt, 'prompt-file': file } = inputs;
  if (prompt !== '' && file !== '') warn('The input prompt is ignored: prompt-file is given');
  const promptName = file !== '' && PROMPT_FILE.test(file) ? file : prompt;
  if (file === '' || promptName === file) {
    if (isPromptFile(promptName)) {
      const text = readText(promptName, file === '' ? 'prompt' : 'prompt-file');
      return resolveFileTarget(inputs, { file: promptName, text }, directory, warn);
    }
    if (PROMPT_ID.test(prompt) || (inputs['base-url'] !== '' && PROMPT_SLUG.test(prompt))) {
      return {
        target: prompt,
        flags: [...toModelFlag(inputs.model), ...buildInputFlags(inputs, directory)],
      };
    }
  }
  return writeWordsTarget(
    inputs,
    file === '' ? prompt : readText(file, 'prompt-file'),
    directory,
    warn,
  );
}

/** Returns true for the name of a prompt file. One with an ending of promptrun's own need not exist. */
function isPromptFile(name) {
  if (PROMPT_FILE.test(name)) return !/[\r\n]/u.test(name);
  return OTHER_PROMPT_FILE.test(name) && existsSync(name);
}

function resolveFileTarget(inputs, { file, text }, directory, warn) {
  if (!GITHUB_MODELS_FILE.test(file)) {
    return {
      target: file,
      flags: [...toModelFlag(inputs.model), ...buildInputFlags(inputs, directory)],
    };
  }
  // As in actions/ai-inference, the model of the file wins over the inputs.
  const hasModel = /^["']?model["']?\s*:/mu.test(text);
  const hasMaxTokens = /\b(?:maxTokens|maxCompletionTokens|max_tokens)\b/u.test(text);
  const maxTokens = inputs['max-tokens'];
  const isPlaceholder = name => text.includes(`{{${name}}}`);
  return {
    target: file,
    flags: [
      ...(hasModel ? [] : toModelFlag(chooseModelName(inputs, warn))),
      ...(maxTokens === '' || hasMaxTokens ? [] : [`--option=maxOutputTokens=${maxTokens}`]),
      ...buildInputFlags(inputs, directory, isPlaceholder, warn),
    ],
  };
}

function writeWordsTarget(inputs, words, directory, warn) {
  if (inputs.input !== '' || inputs['file-input'] !== '' || inputs.file_input !== '') {
    warn('The inputs for variables are ignored: the prompt is words, not a file with variables');
  }
  const maxTokens = Number(inputs['max-tokens']);
  const systemFile = inputs['system-prompt-file'];
  const texts = {
    system:
      systemFile === ''
        ? inputs['system-prompt'] || AI_INFERENCE_DEFAULTS.system
        : readText(systemFile, 'system-prompt-file'),
    prompt: words,
  };
  const content = {
    name: 'prompt',
    model: chooseModelName(inputs, warn),
    ...(maxTokens > 0 && { modelParameters: { maxTokens } }),
    messages: [
      { role: 'system', content: '{{system}}' },
      { role: 'user', content: '{{prompt}}' },
    ],
  };
  const target = path.join(directory, 'words.prompt.yml');
  writeFileSync(target, JSON.stringify(content)); // YAML as well
  const flags = Object.entries(texts).map(([name, text]) => {
    const file = path.join(directory, `${name}.txt`);
    writeFileSync(file, text);
    return `--input=${name}=@${file}`;
  });
  return { target, flags };
}

/** Returns the model of the inputs, under the name that the user's own endpoint has for it. */
function chooseModelName({ model, endpoint }, warn) {
  if (model === '') warn(`No model is given: taking ${AI_INFERENCE_DEFAULTS.model}`);
  const name = model || AI_INFERENCE_DEFAULTS.model;
  return endpoint === '' || name.startsWith('openai/') ? name : `openai/${name}`;
}

function toModelFlag(model) {
  return model === '' ? [] : [`--model=${model}`];
}

/** Returns the flags for values and files, which are key=value lines or the YAML of actions/ai-inference. */
function buildInputFlags(inputs, directory, isKnown = () => true, warn = () => {}) {
  const dropUnknown = entries => {
    for (const [name] of entries.filter(([key]) => !isKnown(key))) {
      warn(`The variable ${name} is ignored: the prompt has no such placeholder`);
    }
    return entries.filter(([key]) => isKnown(key));
  };
  const files = ['file-input', 'file_input'].flatMap(name =>
    isYaml(inputs[name])
      ? [...splitYamlFields(inputs[name])].map(([key, field]) => [key, readYamlText(field)])
      : parsePairs(inputs[name], name),
  );
  const fileFlags = dropUnknown(files).map(([key, file]) => `--input=${key}=@${file}`);
  if (!isYaml(inputs.input)) {
    const texts = dropUnknown(parsePairs(inputs.input, 'input'));
    return [
      ...texts.map(([key, value]) => `--input=${key}=${value.replace(/^@/u, '@@')}`),
      ...fileFlags,
    ];
  }
  const fields = dropUnknown([...splitYamlFields(inputs.input)]).map(([, field]) => field);
  if (fields.length === 0) return fileFlags;
  const file = path.join(directory, 'inputs.yaml');
  writeFileSync(file, fields.join(''));
  return [`--inputs=${file}`, ...fileFlags];
}

function readText(file, inputName) {
  if (!existsSync(file)) {
    throw new Error(`The input ${inputName} names a file that isn't there: ${file}`);
  }
  return readFileSync(file, 'utf8');
}
