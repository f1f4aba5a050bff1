import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryDirectory } from '../support/context.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

/** Returns the lines a picture shows, without their colours and the times in them. */
function readPictureLines(file: string): string[] {
  const texts = readFileSync(file, 'utf8').matchAll(/<text [^>]*>(.*)<\/text>/gu);
  return [...texts].map(([, line = '']) =>
    line.replaceAll(/<[^>]*>/gu, '').replaceAll(/\d+\.\d s/gu, '0.0 s'),
  );
}

describe('the picture of the terminal', () => {
  it('shows what its commands print today', () => {
    const drawn = path.join(createTemporaryDirectory(), 'terminal.svg');
    execFileSync(process.execPath, ['scripts/terminal-picture.js', drawn], { cwd: root });
    expect(readPictureLines(path.join(root, 'docs', 'terminal.svg'))).toEqual(
      readPictureLines(drawn),
    );
    expect(readPictureLines(drawn)).toContain('Hello, Ada! A pleasant day to you.');
  });

  it('leaves the width of its letters to the font, which browsers differ in', () => {
    const picture = readFileSync(path.join(root, 'docs', 'terminal.svg'), 'utf8');
    expect(picture).toMatch(/font-family="[^"]*monospace"/u);
    expect(picture).not.toContain('textLength');
    expect(picture).toContain('text { white-space: pre }');
  });

  it('is in the README', () => {
    expect(readFileSync(path.join(root, 'README.md'), 'utf8')).toContain('](docs/terminal.svg)');
  });
});
