// The workspace holds what a stranger may have written: nothing is written through its links. A program that puts a link
// in place between the look and the write runs in this job already.
import { closeSync, constants, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Windows lacks the first two, and `|` takes undefined for 0. */
const { O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;

/**
 * Checks where a file that an input names would be written, and returns its path: a relative one lies below the
 * workspace, with no link on the way; an absolute one is not a link itself.
 */
export function checkPlace(name, input) {
  const { folder, parts } = resolvePlace(name, input);
  let place = folder;
  for (const part of parts) {
    place = path.join(place, part);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new Error(
        `The input ${input} leads over a link, which is not written through: ${place}`,
      );
    }
  }
  return place;
}

/** Writes a text to the file that an input names, and creates missing folders of the workspace. */
export function writeNamed(name, text, input) {
  const { folder, parts } = resolvePlace(name, input);
  for (let parent = folder; parts.length > 1; ) {
    checkPlace(name, input);
    parent = path.join(parent, parts.shift());
    if (!lstatSync(parent, { throwIfNoEntry: false })) mkdirSync(parent);
  }
  writeWithoutLinks(checkPlace(name, input), text, O_TRUNC);
}

/** Adds a text to a file of the runner, which is not a link. */
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

function resolvePlace(name, input) {
  if (path.isAbsolute(name)) return { folder: path.dirname(name), parts: [path.basename(name)] };
  const workspace = path.resolve(process.env.GITHUB_WORKSPACE || '.');
  const parts = path.normalize(name).split(path.sep);
  if (parts.includes('..')) {
    throw new Error(`The input ${input} leads out of the workspace: ${name}`);
  }
  return { folder: workspace, parts };
}
