import { readdirSync } from 'node:fs';

/** Cases of `echo.prompt`: three runs, of which one fails its expectation. */
export const CASES = `
  - name: says a
    inputs: { text: a }
    expect: [{ equals: a }]
    repeat: 2
  - name: says b
    inputs: { text: b }
    expect: [{ equals: c }]
`;

export function listFilesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}
