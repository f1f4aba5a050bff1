import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { localService } from '../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
  type TestOptions,
} from './context.ts';

/** A prompt that gives its input back. */
export const ECHO = `---
model: echo
input:
  schema:
    text: string
---
{{text}}
`;

/** A directory of prompt files and their tests, and the command line with the embedded service. */
export class Project {
  readonly home = createTemporaryDirectory();

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  write(name: string, content: string): void {
    const file = path.join(this.home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  run(argv: readonly string[], options: TestOptions = {}): Promise<CommandResult> {
    return runInProcess(['-q', ...argv], { home: this.home, local: localService, ...options });
  }
}

/** Returns a project with one prompt, `echo.prompt`, and these cases of it. */
export function createEchoProject(
  cases: string,
  files: Readonly<Record<string, string>> = {},
): Project {
  return new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': `cases:\n${cases}`, ...files });
}
