// The step of action.yml: runs a prompt, or tests of prompts, and hands the answer to the steps after it. What a service
// answered is hostile here: it goes to files, never to the log as it is, where a line can be a command to the runner.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promptrun } from './command.mjs';
import { lines, pairs, readInputs } from './inputs.mjs';
import { fail, log, mask, setOutput } from './runner.mjs';

const inputs = readInputs(process.env);
const directory = mkdtempSync(path.join(process.env.RUNNER_TEMP || tmpdir(), 'promptrun-'));

mask(inputs.apiKey);
try {
  process.exitCode = inputs.test === '' ? runPrompt() : runTests();
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}

function runTests() {
  if (inputs.prompt !== '') throw new Error('Give either prompt or test, not both');
  // Its report is made for this log: annotations, everything else in one line each.
  return promptrun(['test', ...recordings(), ...model(), '--', ...lines(inputs.test)], inputs).code;
}

function runPrompt() {
  if (inputs.prompt === '') throw new Error('Give a prompt to run, or tests with the input test');
  const target = targetOf(inputs.prompt);
  const { code, stdout, stderr } = promptrun([...argumentsOfRun(), '--', target], inputs);
  log(stderr);
  const run = parse(stdout);
  if (run !== undefined) handOver(run, stdout);
  if (code !== 0) fail(messageOf(stderr) ?? `promptrun ended with exit code ${code}`);
  return code;
}

function argumentsOfRun() {
  const texts = pairs(inputs.input, 'input').map(([key, value]) => `${key}=${value.replace(/^@/u, '@@')}`);
  const files = pairs(inputs.fileInput, 'file-input').map(([key, file]) => `${key}=@${file}`);
  const given = [...texts, ...files].map(input => `--input=${input}`);
  const options = pairs(inputs.options, 'options').map(([key, value]) => `--option=${key}=${value}`);
  const schema = inputs.schema === '' ? [] : [`--schema=${inputs.schema}`];
  return ['run', '--json', '--no-input', ...recordings(), ...model(), ...schema, ...given, ...options];
}

function model() {
  return inputs.model === '' ? [] : [`--model=${inputs.model}`];
}

function recordings() {
  const record = inputs.record === '' ? [] : [`--record=${inputs.record}`];
  return inputs.replay === '' ? record : [...record, `--replay=${inputs.replay}`];
}

/** A prompt of GitHub Models becomes a prompt file in a directory of this step. */
function targetOf(prompt) {
  if (!/\.prompt\.ya?ml$/u.test(prompt)) return prompt;
  const name = path.basename(prompt).replace(/\.prompt\.ya?ml$/u, '');
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/gu, '-')
      .replace(/^-+|-+$/gu, '') || 'prompt';
  const file = path.join(directory, `${slug}.prompt`);
  const { code, stderr } = promptrun(['prompts', 'new', `--from=${prompt}`, '--', file], inputs);
  log(stderr);
  if (code !== 0) throw new Error(`${prompt} could not be converted to a prompt file`);
  return file;
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // without a run there is nothing to hand over
  }
}

/** With --json an error is a line of JSON; what fails before the command has begun says it in plain words. */
function messageOf(stderr) {
  const said = stderr.split('\n').map(line => parse(line)?.message ?? /^error: (.+)$/u.exec(line)?.[1]);
  return said.find(message => typeof message === 'string');
}

function handOver(run, json) {
  const outputs = Array.isArray(run.outputs) ? run.outputs : [];
  const file = path.join(directory, 'response.txt');
  writeFileSync(
    file,
    outputs.map(({ data }) => (typeof data === 'string' ? data : JSON.stringify(data))).join('\n'),
  );
  setOutput('response-file', file);
  setOutput('json', json.trimEnd());
  if (typeof run.runId === 'string') setOutput('run-id', run.runId);
}
