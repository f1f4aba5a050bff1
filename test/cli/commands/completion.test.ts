import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { runInProcess } from '../../support/context.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../completions');

const FILES = {
  bash: 'promptrun.bash',
  zsh: '_promptrun',
  fish: 'promptrun.fish',
  powershell: 'promptrun.ps1',
};

describe('promptrun completion', () => {
  it.each(Object.entries(FILES))(
    'prints for %s the content of completions/%s',
    async (shell, file) => {
      const { stdout, exitCode } = await runInProcess(['completion', shell]);
      expect(stdout()).toBe(readFileSync(path.join(FOLDER, file), 'utf8'));
      expect(exitCode).toBe(0);
    },
  );

  it('ships no other scripts', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(Object.values(FILES).sort());
  });

  it('uses neither compgen nor eval in bash, which would expand candidates', () => {
    const code = readFileSync(path.join(FOLDER, FILES.bash), 'utf8').replace(/^\s*#.*$/gmu, '');
    expect(code).not.toMatch(/compgen|eval/u);
  });

  it('suggests the nearest shell', async () => {
    const { stderr, exitCode } = await runInProcess(['completion', 'bahs']);
    expect(stderr()).toMatch(
      /^error: unknown shell "bahs"; did you mean bash\? \(USAGE_ERROR\)\n/u,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('writes nothing to disk', async () => {
    const { home } = await runInProcess(['completion', 'bash']);
    expect(readdirSync(home)).toEqual([]);
  });
});
