// A stranger may have written what is in the workspace, so nothing is written through its links. A program that creates a
// link between the check and the write already runs in this job.
import { closeSync, constants, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Flags of `open`. Windows lacks the first two; `|` treats undefined as 0. */
const { O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;

/**
 * Returns the path of a file that an input names, to write to it.
 *
 * @throws {Error} if it is relative and leads out of the workspace or over a link, or is absolute and a link
 */
export function resolveWritePath(name, inputName) {
  const { folder, parts } = splitWritePath(name, inputName);
  let checkedPath = folder;
  for (const part of parts) {
    checkedPath = path.join(checkedPath, part);
    if (lstatSync(checkedPath, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new Error(
        `The input ${inputName} leads over a link, which is not written through: ${checkedPath}`,
      );
    }
  }
  return checkedPath;
}

/** Writes a text to the file that an input names, and creates missing folders of the workspace. */
export function writeNamedFile(name, text, inputName) {
  const { folder, parts } = splitWritePath(name, inputName);
  let parent = folder;
  for (const part of parts.slice(0, -1)) {
    resolveWritePath(name, inputName);
    parent = path.join(parent, part);
    if (!lstatSync(parent, { throwIfNoEntry: false })) mkdirSync(parent);
  }
  writeWithoutLinks(resolveWritePath(name, inputName), text, O_TRUNC);
}

/** Appends a text to a file of the runner. @throws {Error} if it is a link */
export function appendToFile(file, text) {
  writeWithoutLinks(file, text, O_APPEND);
}

function writeWithoutLinks(file, text, flag) {
  const descriptor = openSync(file, O_WRONLY | O_CREAT | flag | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    if (lstatSync(file).isSymbolicLink()) {
      throw new Error(`${file} is a link, which is not written through`);
    }
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

function splitWritePath(name, inputName) {
  if (path.isAbsolute(name)) return { folder: path.dirname(name), parts: [path.basename(name)] };
  const workspace = path.resolve(process.env.GITHUB_WORKSPACE || '.');
  const parts = path.normalize(name).split(path.sep);
  if (parts.includes('..')) {
    throw new Error(`The input ${inputName} leads out of the workspace: ${name}`);
  }
  return { folder: workspace, parts };
}
