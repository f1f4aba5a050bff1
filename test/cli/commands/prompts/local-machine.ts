import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { localService } from '../../../../src/main.ts';
import {
  createTemporaryDirectory,
  runInProcess,
  type TestOptions,
} from '../../../support/context.ts';

export const SUM =
  '---\nmodel: echo\ninput:\n  schema:\n    count: integer\n    who?: string\n---\n{{count}} for {{who}}\n';

export const GITHUB_PROMPT = String.raw`name: Sum up
model: openai/gpt-4o-mini
modelParameters: { temperature: 0.5, maxTokens: 9 }
responseFormat: json_schema
jsonSchema: '{"name": "x", "strict": true, "schema": {"type": "object"}}'
messages:
  - role: system
    content: 'Sum up. {{#if x}} \{{#y}} {{{z}}}'
  - role: user
    content: |
      <{{json}}> C:\{{ b }}
  - role: assistant
    content: 'Yes'
testData: []
`;

export function createMachine(files: Readonly<Record<string, string | Buffer>> = {}) {
  const home = createTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);

  const promptrun = async (argv: readonly string[], options: TestOptions = {}) => {
    const { exitCode, stdout, stderr } = await runInProcess(argv, {
      home,
      local: localService,
      ...options,
    });
    return { exitCode, stdout: stdout(), stderr: stderr() };
  };

  return { home, promptrun };
}
