// The interface of GitHub's runner: files of outputs, and lines of the log that are commands to it.
import { randomBytes } from 'node:crypto';
import { EOL } from 'node:os';
import { appendTo } from './files.mjs';

/** Sets an output for later steps. The delimiter can't be guessed, so no value can end itself and add another output. */
export function setOutput(name, value) {
  const file = process.env.GITHUB_OUTPUT;
  if (!file) return;
  const delimiter = createUnguessableWord();
  appendTo(file, `${name}<<${delimiter}${EOL}${value}${EOL}${delimiter}${EOL}`);
}

/** Writes a text to the log, so that no line of it is a command. */
export function log(text) {
  if (text.trim() === '') return;
  const token = createUnguessableWord();
  process.stdout.write(`::stop-commands::${token}${EOL}${text.trimEnd()}${EOL}::${token}::${EOL}`);
}

/** Annotates the job with an error. */
export function fail(message) {
  process.stdout.write(`::error title=promptrun::${escape(message)}${EOL}`);
}

/** Annotates the job with a warning. */
export function warn(message) {
  process.stdout.write(`::warning title=promptrun::${escape(message)}${EOL}`);
}

/** Hides a secret in the log, even if it is not one of GitHub's secrets. */
export function mask(secret) {
  if (secret !== '') process.stdout.write(`::add-mask::${escape(secret)}${EOL}`);
}

function createUnguessableWord() {
  return `promptrun-${randomBytes(16).toString('hex')}`;
}

function escape(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
