// A stranger may have written what is in the workspace, so nothing is written through its links. A program that creates a
// link between the check and the write already runs in this job.
import { closeSync, constants, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Windows lacks the first two; `|` treats undefined as 0. */
const { O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;

/**
 * Returns the path to which a file that an input names is written. Throws for a relative one outside the workspace or over
 * a link, and for an absolute one that is a link.
 */
export function checkWritePath(name, input) {
  const { folder, parts } = splitWritePath(name, input);
  let checkedPath = folder;
  for (const part of parts) {
    checkedPath = path.join(checkedPath, part);
    if (lstatSync(checkedPath, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new Error(
        `The input ${input} leads over a link, which is not written through: ${checkedPath}`,
      );
    }
  }
  return checkedPath;
}

/** Writes a text to the file that an input names, and creates missing folders of the workspace. */
export function writeNamed(name, text, input) {
  const { folder, parts } = splitWritePath(name, input);
  for (let parent = folder; parts.length > 1; ) {
    checkWritePath(name, input);
    parent = path.join(parent, parts.shift());
    if (!lstatSync(parent, { throwIfNoEntry: false })) mkdirSync(parent);
  }
  writeWithoutLinks(checkWritePath(name, input), text, O_TRUNC);
}

/** Appends a text to a file of the runner. Throws if it is a link. */
export function appendTo(file, text) {
  writeWithoutLinks(file, text, O_APPEND);
}

function writeWithoutLinks(file, text, flag) {
  const handle = openSync(file, O_WRONLY | O_CREAT | flag | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    if (lstatSync(file).isSymbolicLink()) {
      throw new Error(`${file} is a link, which is not written through`);
    }
    writeFileSync(handle, text);
  } finally {
    closeSync(handle);
  }
}

function splitWritePath(name, input) {
  if (path.isAbsolute(name)) return { folder: path.dirname(name), parts: [path.basename(name)] };
  const workspace = path.resolve(process.env.GITHUB_WORKSPACE || '.');
  const parts = path.normalize(name).split(path.sep);
  if (parts.includes('..')) {
    throw new Error(`The input ${input} leads out of the workspace: ${name}`);
  }
  return { folder: workspace, parts };
}
