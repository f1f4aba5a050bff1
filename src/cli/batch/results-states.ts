import type { FileHandle } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import { mendEnd, readEnd } from './results-end.ts';
import { parseResultsLine, type RowState } from './results-line.ts';
import { textLines } from './text-lines.ts';

/**
 * What a file of results says of each row, by the row's id. Reads every line before it mends a torn end: the file may
 * be another one, named by mistake.
 *
 * @throws {CliError} at the first line that is no result
 */
export async function readStates(
  handle: FileHandle,
  file: string,
  note: (line: string) => void,
): Promise<Map<string, RowState>> {
  const states = new Map<string, RowState>();
  let lines = 0;
  const take = (text: string): void => {
    lines += 1;
    const { id, state } = parseResultsLine(text) ?? refuseLine(file, lines);
    states.set(id, state);
  };
  const end = await readEnd(handle);
  for await (const { text } of textLines(wholeLines(handle, end.start))) {
    take(text);
  }
  if (end.text !== '') {
    if (!(await mendEnd(handle, end))) {
      refuseLine(file, lines + 1);
    }
    note(`note: the last line of ${file} was not written to its end and has been mended`);
    const mended = (await handle.stat()).size;
    for await (const { text } of textLines(wholeLines(handle, mended, end.start))) {
      take(text);
    }
  }
  return states;
}

function refuseLine(file: string, line: number): never {
  throw usageError(`${file}, line ${line}: this is no result of a batch`, 'name the file the batch wrote');
}

async function* wholeLines(handle: FileHandle, end: number, start = 0): AsyncGenerator<string> {
  if (end > start) {
    yield* handle.createReadStream({
      encoding: 'utf8',
      start,
      end: end - 1,
      autoClose: false,
    }) as AsyncIterable<string>;
  }
}
