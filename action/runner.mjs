// The interface of GitHub's runner: files of outputs, and lines of the log that are commands to it.
import { randomBytes } from 'node:crypto';
import { EOL } from 'node:os';
import { appendToFile } from './files.mjs';

/** Sets an output for later steps. The delimiter can't be guessed, so no value can end itself and add another output. */
export function setOutput(name, value) {
  const file = process.env.GITHUB_OUTPUT;
  if (!file) return;
  const delimiter = createUnguessableWord();
  appendToFile(file, `${name}<<${delimiter}${EOL}${value}${EOL}${delimiter}${EOL}`);
}

/** Writes a text to the log, of which the runner takes no line for a command. */
export function log(text) {
  if (text.trim() === '') return;
  const token = createUnguessableWord();
  process.stdout.write(`::stop-commands::${token}${EOL}${text.trimEnd()}${EOL}::${token}::${EOL}`);
}

/** Annotates the job with an error. */
export function reportError(message) {
  process.stdout.write(`::error title=promptrun::${escapeData(message)}${EOL}`);
}

/** Annotates the job with a warning. */
export function warn(message) {
  process.stdout.write(`::warning title=promptrun::${escapeData(message)}${EOL}`);
}

/** Hides a secret in the log, even if it is not one of GitHub's secrets. */
export function mask(secret) {
  if (secret !== '') process.stdout.write(`::add-mask::${escapeData(secret)}${EOL}`);
}

function createUnguessableWord() {
  return `promptrun-${randomBytes(16).toString('hex')}`;
}

function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
