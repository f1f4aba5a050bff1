// The step of action.yml: runs a prompt, or tests of prompts, and passes the answer to later steps. Answers are treated as
// hostile: they go to files, never unchanged to the log, where a line can be a command to the runner.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findCommand, runPromptrun } from './command.mjs';
import { resolveWritePath, writeNamedFile } from './files.mjs';
import { parsePairs, readInputs, splitLines } from './inputs.mjs';
import { log, mask, reportError, setOutput, warn } from './runner.mjs';
import { resolveTarget } from './target.mjs';

const inputs = readInputs(process.env);
const directory = mkdtempSync(path.join(process.env.RUNNER_TEMP || tmpdir(), 'promptrun-'));

mask(inputs['api-key']);
mask(inputs.token);
try {
  process.exitCode = inputs.test === '' ? runPrompt() : runTests();
} catch (error) {
  reportError(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}

function runTests() {
  if (inputs.prompt !== '' || inputs['prompt-file'] !== '') {
    throw new Error('Give either prompt or test, not both');
  }
  const permissionFlags = inputs['allow-commands'] === 'true' ? ['--allow-commands'] : [];
  const flags = [...toInputFlag('model'), ...getRecordingFlags(), ...permissionFlags];
  // Its report is written for this log: annotations, and everything else on one line each.
  return run(['test', ...flags, '--', ...splitLines(inputs.test)]).code;
}

function runPrompt() {
  if (inputs.prompt === '' && inputs['prompt-file'] === '') {
    throw new Error('Give a prompt to run, or tests with the input test');
  }
  if (inputs['response-file'] !== '') resolveWritePath(inputs['response-file'], 'response-file');
  const { target, flags } = resolveTarget(inputs, directory, warn);
  const { code, stdout, stderr } = run([...buildRunArguments(), ...flags, '--', target]);
  log(stderr);
  const answer = parseIfJson(stdout);
  if (answer !== undefined) setOutputs(answer, stdout);
  if (code !== 0) reportError(findErrorMessage(stderr) ?? `promptrun ended with exit code ${code}`);
  return code;
}

function buildRunArguments() {
  const options = parsePairs(inputs.options, 'options').map(
    ([key, value]) => `--option=${key}=${value}`,
  );
  return [
    'run',
    '--json',
    '--no-input',
    ...getRecordingFlags(),
    ...toInputFlag('schema'),
    ...options,
  ];
}

function getRecordingFlags() {
  return [...toInputFlag('record'), ...toInputFlag('replay')];
}

function toInputFlag(name) {
  return inputs[name] === '' ? [] : [`--${name}=${inputs[name]}`];
}

function run(args) {
  return runPromptrun(findCommand(inputs, directory), args, buildAccessVariables());
}

/** Returns the environment variables with addresses and keys. The token is the key of the endpoint only. */
function buildAccessVariables() {
  for (const name of ['provider', 'copilot-token', 'copilot-model']) {
    if (inputs[name] !== '') warn(`The input ${name} is ignored: there is no such engine here`);
  }
  const isGitHubModels =
    /^https:\/\/models\.(?:github\.ai|inference\.ai\.azure\.com)(?:[:/]|$)/iu.test(inputs.endpoint);
  if (inputs.token !== '' && (inputs.endpoint === '' || isGitHubModels)) {
    warn(
      'The input token is ignored: it is the key of the input endpoint, which GitHub Models no longer is',
    );
  }
  const hasOwnEndpoint = inputs.endpoint !== '' && !isGitHubModels;
  return {
    ...(inputs['base-url'] !== '' && { PROMPTRUN_BASE_URL: inputs['base-url'] }),
    ...(inputs['api-key'] !== '' && { PROMPTRUN_API_KEY: inputs['api-key'] }),
    ...(hasOwnEndpoint && { OPENAI_BASE_URL: inputs.endpoint }),
    ...(hasOwnEndpoint && inputs.token !== '' && { OPENAI_API_KEY: inputs.token }),
  };
}

function parseIfJson(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // without a run there is no answer
  }
}

/** Returns the message of an error: a line of JSON with --json, or plain text if it came before the command began. */
function findErrorMessage(stderr) {
  const messages = stderr
    .split('\n')
    .map(line => parseIfJson(line)?.message ?? /^error: (.+)$/u.exec(line)?.[1]);
  return messages.find(message => typeof message === 'string');
}

/** Sets the outputs of the step, and writes the file that the inputs name. */
function setOutputs(answer, json) {
  const outputs = Array.isArray(answer.outputs) ? answer.outputs : [];
  const response = outputs
    .map(({ data }) => (typeof data === 'string' ? data : JSON.stringify(data)))
    .join('\n');
  const defaultFile = path.join(directory, 'response.txt');
  writeFileSync(defaultFile, response);
  setOutput('response', response);
  const requestedFile = inputs['response-file'];
  let writtenFile = defaultFile;
  try {
    if (requestedFile !== '') writeNamedFile(requestedFile, response, 'response-file');
    writtenFile = requestedFile || defaultFile;
  } finally {
    // The run is paid for, so its outputs are set even if that file can't be written.
    setOutput('response-file', writtenFile);
    setOutput('json', json.trimEnd());
    if (typeof answer.runId === 'string') setOutput('run-id', answer.runId);
  }
}
