import { describe, expect, it } from 'vitest';
import { runConfiguration } from './tested-configuration.ts';

describe('programs of a configuration in TypeScript', () => {
  it('are run by the jiti of their project if it has one', async () => {
    const files = {
      'promptfooconfig.yaml':
        'prompts: ["{{q}}"]\nproviders: [file://bot.ts]\ntests: file://made.ts\n',
      'bot.ts':
        'export default class {\n  async callApi(prompt: string) { return { output: prompt + "!" }; }\n}\n',
      'made.ts':
        'const q: string = "hi";\nexport default [{ vars: { q }, assert: [{ type: "equals", value: "hi!" }] }];\n',
      'node_modules/jiti/index.js': `exports.createJiti = () => ({
  import: async file => {
    const text = require('node:fs').readFileSync(file, 'utf8').replaceAll(': string', '');
    return await import('data:text/javascript,' + encodeURIComponent(text));
  },
});`,
    };
    const { stderr, stdout } = await runConfiguration(files, '--allow-commands');
    expect(stdout, stderr).toContain('1 passed, 0 failed');
  });

  it('may be prompts with enums and imports, and run without a jiti of the project', async () => {
    const files = {
      'promptfooconfig.yaml':
        'prompts: [file://p*.ts]\nproviders: [echo]\ntests: [{ vars: { a: x }, assert: [{ type: equals, value: x! }] }]\n',
      'p1.ts':
        'import { Mark } from "./marks";\nexport default ({ vars }: { vars: { a: string } }) => vars.a + Mark.End;\n',
      'marks.ts': 'export enum Mark { End = "!" }\n',
    };
    const { stderr, stdout } = await runConfiguration(files, '--allow-commands');
    expect(stdout, stderr).toContain('1 passed, 0 failed');
    expect((await runConfiguration(files)).stderr).toContain(
      'the prompt is a program, which runs only with',
    );
  });

  it('import by the `paths` of tsconfig.json, and run if that extends a missing file', async () => {
    const config =
      'prompts: [hi]\nproviders: [file://bot.ts]\ntests: [{ assert: [{ type: equals, value: ok }] }]\n';
    const bot = (answer: string) =>
      `${answer}\nexport default class { async callApi() { return { output: answer }; } }\n`;
    const byPath = {
      'evals/promptfooconfig.yaml': config,
      'evals/bot.ts': bot('import { answer } from "@/lib/answer";'),
      'lib/answer.ts': 'export const answer: string = "ok";\n',
      'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }',
    };

    const argv = ['evals/promptfooconfig.yaml', '--allow-commands'] as const;
    expect((await runConfiguration(byPath, ...argv)).stdout).toContain('1 passed, 0 failed');

    const broken = {
      ...byPath,
      'evals/bot.ts': bot('const answer: string = "ok";'),
      'tsconfig.json': '{ "extends": "@tsconfig/not-installed/tsconfig.json" }',
    };
    expect((await runConfiguration(broken, ...argv)).stdout).toContain('1 passed, 0 failed');
  });
});
