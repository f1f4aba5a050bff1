import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Project } from '../../../support/project.ts';
import { hasPython } from '../../../support/system.ts';
import { runConfiguration } from './tested-configuration.ts';

describe('providers and checks of a configuration that are programs', () => {
  it.each(['file://say.mjs', ...(hasPython ? ['file://say.py'] : [])])(
    'get the chat and the variables of each test as in promptfoo: %s',
    async provider => {
      const chat = { role: 'user', content: 'Sag schön {{a}}{{c}}' };
      const config = {
        prompts: [JSON.stringify([{ role: 'system', content: 'S' }, chat])],
        providers: [provider],
        tests: [
          { vars: { a: 'x', b: 'y' }, assert: [{ type: 'contains', value: '"b":"y"' }] },
          { vars: { a: 'z' }, assert: [{ type: 'not-regex', value: '"[bc]":' }] },
        ],
        defaultTest: {
          assert: [{ type: 'contains', value: '    "content": "Sag schön {{a}}"\n  }\n]' }],
        },
      };

      const { exitCode, stdout } = await runConfiguration(
        {
          'promptfooconfig.json': JSON.stringify(config),
          'say.mjs':
            'export default class { async callApi(prompt, { vars }) { return { output: prompt + JSON.stringify(vars) }; } }',
          'say.py':
            "import json\ndef call_api(prompt, options, context):\n  return {'output': prompt + json.dumps(context['vars'], separators=(',', ':'))}\n",
        },
        '--allow-commands',
      );
      expect(stdout).toContain('2 passed, 0 failed');
      expect(exitCode).toBe(0);
    },
  );

  it.each(['file://count.mjs', ...(hasPython ? ['file://count.py'] : [])])(
    'are loaded once for all tests, whatever their own programs print: %s',
    async provider => {
      const config = {
        prompts: ['{{a}}\u2028'],
        providers: [provider],
        evaluateOptions: { maxConcurrency: 1 },
        tests: ['x', 'y', 'z'].map((a, index) => ({
          vars: { a },
          assert: [{ type: 'equals', value: `${a}\u2028 ${index + 1}` }],
        })),
      };

      const { exitCode, stdout } = await runConfiguration(
        {
          'promptfooconfig.json': JSON.stringify(config),
          'count.mjs': `import { execSync } from 'node:child_process';
let count = 0;
export default class {
  async callApi(prompt) {
    execSync('echo printed', { stdio: 'inherit' });
    return { output: prompt + ' ' + ++count };
  }
}`,
          'count.py': `import os
count = 0
def call_api(prompt, options, context):
    global count
    count += 1
    os.system('echo printed')
    return {'output': prompt + ' ' + str(count)}
`,
        },
        '--allow-commands',
      );
      expect(stdout).toContain('3 passed, 0 failed');
      expect(exitCode).toBe(0);
    },
  );

  it('lie beside their own configuration, even if another has the same text', async () => {
    const config = JSON.stringify({
      prompts: ['Hi'],
      providers: ['file://bot.mjs'],
      tests: [{ assert: [{ type: 'javascript', value: 'file://check.cjs' }] }],
    });

    const files = ['a', 'b'].flatMap(folder => [
      [`${folder}/promptfooconfig.json`, config],
      [
        `${folder}/bot.mjs`,
        `export default class { callApi() { return { output: '${folder}' }; } }`,
      ],
      [
        `${folder}/check.cjs`,
        `require('node:fs'); module.exports = output => ({ pass: output === '${folder}', score: 1, reason: '${folder}' });`,
      ],
    ]);

    const argv = ['a', 'b', '--allow-commands', '--concurrency', '1'];
    const { exitCode, stdout } = await runConfiguration(
      Object.fromEntries(files) as Record<string, string>,
      ...argv,
    );

    expect(stdout).toContain('2 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  const KINDS = {
    'promptfooconfig.yaml': `prompts: ['Say {{a}}']
providers: [file://kinds.mjs]
tests:
  - { vars: { a: 1, b: 3 }, assert: [{ type: equals, value: 'number 3' }] }
  - { vars: { a: 2, b: '3' }, assert: [{ type: equals, value: 'number "3"' }] }
  - { vars: { a: 2, b: '' }, assert: [{ type: javascript, value: 'output === "number " + JSON.stringify(context.vars.b)' }] }
  - { vars: { a: 2, b: null }, assert: [{ type: equals, value: 'number null' }] }
  - { vars: { a: 2 }, assert: [{ type: equals, value: 'number undefined' }] }
`,
    'kinds.mjs': `export default class {
  async callApi(_, { vars: { a, b } }) {
    return { output: typeof a + ' ' + JSON.stringify(b) };
  }
}`,
  };

  it('get numbers, texts and null of variables as they are written', async () => {
    const { stdout, stderr } = await runConfiguration(KINDS, '--allow-commands');
    expect(stdout, stderr).toContain('5 passed, 0 failed');
  });

  it.runIf(hasPython)(
    'get variables of the environment in their config, hidden from process lists',
    async () => {
      const config = (id: string) => `prompts: [hi]
providers: [{ id: '${id}', config: { size: '{{env.SIZE}}', other: '{{env.NONE}}' } }]
tests: [{ assert: [{ type: regex, value: '^a "small" one ..env.NONE.. true$' }] }]
`;

      const files = {
        'js/promptfooconfig.yaml': config('file://sizes.mjs'),
        'js/sizes.mjs': `export default class {
  constructor({ config: { size, other } }) {
    this.text = [size, other, !process.argv.join().includes('small')].join(' ');
  }
  async callApi() {
    return { output: this.text };
  }
}`,
        'py/promptfooconfig.yaml': config('file://sizes.py'),
        'py/sizes.py': `import sys
def call_api(prompt, options, context):
    config = options['config']
    hidden = str('small' not in ' '.join(sys.argv)).lower()
    return {'output': ' '.join([config['size'], config['other'], hidden])}
`,
      };

      vi.stubEnv('SIZE', 'a "small" one');
      onTestFinished(() => void vi.unstubAllEnvs());
      const { stdout, stderr } = await new Project(files).run(['test', '--allow-commands']);

      expect(stdout(), stderr()).toContain('2 passed, 0 failed');

      const { stderr: refused } = await runConfiguration(
        { 'promptfooconfig.yaml': config('exec:node x.mjs') },
        '--allow-commands',
      );
      expect(refused).toContain('its config names environment variables');
    },
  );

  it('are refused if a prompt holds a variable that is a text in one test and a number in another', async () => {
    const config = KINDS['promptfooconfig.yaml'].replace('{{a}}', '{{b}}');
    const files = { ...KINDS, 'promptfooconfig.yaml': config };
    const { exitCode, stderr } = await runConfiguration(files, '--allow-commands');
    expect(stderr).toContain('`b` has texts and other values');
    expect(exitCode).toBe(EXIT.usage);
  });

  it("ask Claude by their project's Agent SDK, in a directory that is removed", async () => {
    const config = {
      prompts: ['{{q}}'],
      providers: [
        { id: 'anthropic:claude-agent-sdk', config: { working_dir: '.', max_turns: 3 } },
        { id: 'anthropic:claude-agent-sdk', config: { max_turns: 1 } },
      ],
      tests: [
        {
          vars: { q: 'hi' },
          assert: [
            { type: 'javascript', value: 'context.metadata.skillCalls[0].name === "wiki"' },
            { type: 'equals', value: 'hi 3 Glob,Grep,LS,Read claude_code' },
          ],
        },
      ],
    };

    const sdk = `export async function* query({ prompt, options: { maxTurns, allowedTools, systemPrompt, cwd } }) {
  const call = { type: 'tool_use', id: '1', name: 'Skill', input: { skill: 'wiki' } };
  yield { type: 'assistant', message: { content: [call] } };
  if (maxTurns === 1) throw new Error('no turns left in <' + cwd + '>');
  const result = [prompt, maxTurns, allowedTools, systemPrompt.preset].join(' ');
  yield { type: 'result', subtype: 'success', result, total_cost_usd: 0.5, usage: {} };
}`;

    const folder = 'node_modules/@anthropic-ai/claude-agent-sdk';
    const files = {
      'promptfooconfig.json': JSON.stringify(config),
      [`${folder}/package.json`]: '{"type": "module", "exports": {".": {"default": "./sdk.mjs"}}}',
      [`${folder}/sdk.mjs`]: sdk,
    };
    const { stdout, stderr } = await runConfiguration(
      files,
      'promptfooconfig.json',
      '--allow-commands',
    );

    expect(stdout, stderr).toContain('1 passed, 1 failed');

    const [, left = ''] = /no turns left in <(.+)>/u.exec(stdout) ?? [];
    expect([path.basename(left), existsSync(left)]).toEqual([
      expect.stringMatching(/^promptrun-agent-/u),
      false,
    ]);
  });

  it('are asked again by --resume if their config has changed', async () => {
    const config = (k: number): string =>
      `prompts: ['{{a}}']\nproviders: [{ id: file://bot.mjs, config: { k: ${k} } }]
tests: [{ vars: { a: x }, assert: [{ type: equals, value: 'k is 1' }] }]\n`;

    const bot = `export default class {
  constructor({ config }) { this.config = config; }
  id() { return 'bot'; }
  async callApi() { return { output: 'k is ' + this.config.k }; }
}
`;
    const project = new Project({ 'bot.mjs': bot, 'promptfooconfig.yaml': config(1) });
    const resume = ['test', '--allow-commands', '--resume'];

    expect((await project.run(resume)).exitCode).toBe(0);
    expect((await project.run(resume)).stdout()).toContain('0 passed now, 1 before');

    project.write('promptfooconfig.yaml', config(2));
    expect((await project.run(resume)).exitCode).toBe(EXIT.runFailed);
  });

  it('are loaded a few times for many answers if they are checks that import something', async () => {
    const answers = [
      ...Array.from({ length: 12 }, (_, index) => `answer ${index}`),
      'x'.repeat(300_000),
    ];
    const config = {
      prompts: ['{{a}}'],
      providers: ['echo'],
      tests: answers.map(a => ({
        vars: { a },
        assert: [{ type: 'javascript', value: 'file://check.cjs' }],
      })),
    };

    const files = {
      'promptfooconfig.json': JSON.stringify(config),
      'check.cjs': `require('node:fs').appendFileSync('loads.txt', 'x');
module.exports = (output, { vars }) => {
  console.log('printed');
  return output === vars.a;
};`,
    };
    const { project, exitCode, stdout } = await runConfiguration(files, '--allow-commands');

    expect(stdout).toContain('13 passed, 0 failed');
    expect(exitCode).toBe(0);
    expect(readFileSync(path.join(project.home, 'loads.txt'), 'utf8').length).toBeLessThanOrEqual(
      4,
    );
  });
});
