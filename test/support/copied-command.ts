import { cpSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Copies the built command to a directory, and returns its path there. */
export function copyCommand(directory: string): string {
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(ROOT, part), path.join(directory, part), {
      recursive: true,
      // Other tests add compiled code to it meanwhile.
      filter: source => source !== path.join(ROOT, 'dist/compiled'),
    });
  }
  return path.join(directory, 'bin/promptrun.js');
}
