import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Project } from '../../../support/project.ts';
import { CONFIG, runConfiguration } from './tested-configuration.ts';

describe('variables of a configuration of promptfoo', () => {
  it('may not be a PDF, whose text promptfoo sends', async () => {
    const text = `prompts: ['Read {{a}}']
providers: [echo]
tests: [{ vars: { a: file://bill.pdf } }]
`;
    const { exitCode, stdout, stderr } = await runConfiguration({
      'promptfooconfig.yaml': text,
      'bill.pdf': '%PDF-1.4',
    });
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('promptfooconfig.yaml:3: file://bill.pdf is a PDF');
  });

  it('are transformed by `transformVars` before lists become cases', async () => {
    const text = `prompts: ['{{who}}|{{city}}|{{n}}|{{doc}}|{{all}}']
providers: [echo]
defaultTest:
  vars: { who: Ann }
  options:
    transformVars: "{ ...vars, city: vars.city.toUpperCase(), n: vars.n + 1, all: Object.keys(vars).join() }"
tests:
  - vars: { city: oslo, n: 41, doc: file://doc.txt }
    assert: [{ type: equals, value: 'Ann|OSLO|42|The text|who,city,n,doc' }]
  - vars: { city: bergen, n: 1, doc: file://doc.txt }
    options:
      transformVars: |
        const { doc } = vars;
        return Promise.resolve({ city: ['{{who}}', 'x'], all: doc });
    assert: [{ type: javascript, value: context.vars.n === 1 }, { type: contains, value: '|The text|The text' }]
  - vars: { city: [a, b], n: 0, doc: none }
    options: { transformVars: '({ city: vars.city.length, session: context.uuid })' }
    assert: [{ type: equals, value: 'Ann|2|0|none|' }]
`;
    const files = { 'promptfooconfig.yaml': text, 'doc.txt': 'The text\n' };
    const { exitCode, stdout } = await runConfiguration(files);
    expect(stdout).toContain('4 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  it.each([
    ['file://vars.js', ':5: `transformVars` has an equivalent only for code'],
    ['process.env.HOME', ':5: a transform uses `process`'],
    ['vars.a.b.c', ':5: `transformVars`: TypeError'],
    ['vars.a', ':5: `transformVars` returns no object'],
    ["'{ a: context.uuid }'", ':5: `a` has an id that is new for each run'],
    [
      '\'context.uuid[0] === "1" ? vars : undefined\'',
      ':5: `a` has an id that is new for each run',
    ],
  ])('are refused if `transformVars` has no equivalent: %s', async (code, words) => {
    const text = `prompts: ['Say {{a}}']
providers: [echo]
defaultTest:
  options:
    transformVars: ${code}
tests: [{ vars: { a: x } }]
`;
    const { exitCode, stdout, stderr } = await runConfiguration({ 'promptfooconfig.yaml': text });
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(`promptfooconfig.yaml${words}`);
  });

  it('may have a fresh id if nothing uses them, even if the format has keys of their names', async () => {
    const text = `prompts: ['Say {{a}}, reader']
providers: [echo]
defaultTest:
  options:
    transformVars: '{ ...vars, file: context.uuid, json: context.uuid, read: context.uuid }'
tests: [{ vars: { a: x }, assert: [{ type: contains, value: reader }, { type: not-contains-json }] }]
`;
    const { exitCode, stdout } = await runConfiguration({ 'promptfooconfig.yaml': text });
    expect(stdout).toContain('1 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  it('of the environment may name a model, and their values are never shown', async () => {
    const env = { OUR_MODEL: 'echo', OUR_MODEL_KEY: 'sk-secret' };
    const runWith = (id: string) => {
      const files = { 'promptfooconfig.yaml': `prompts: [a]\nproviders: ['${id}']\n` };
      return new Project(files).run(['test'], { env });
    };

    const named = await runWith('{{env.OUR_MODEL}}');
    expect(named.stdout()).toContain('1 passed');
    expect(named.exitCode).toBe(0);

    const secret = await runWith('openai:{{ env.OUR_MODEL_KEY }}');
    expect(secret.stderr()).toMatch(/:2: .* needs a variable/);
    expect(secret.exitCode).toBe(EXIT.usage);
    expect(secret.stdout() + secret.stderr()).not.toContain('sk-secret');
  });

  it('that are lists and objects become texts as in promptfoo', async () => {
    const text = `prompts: ['Say {{a}}', '[{"role": "user", "content": "Say {{a}}"}]', '{% if a %}Say {{a}}{% endif %}']
providers: [echo]
tests:
  - { vars: { a: { k: 1 } }, assert: [{ type: equals, value: 'Say [object Object]' }] }
  - { vars: { a: [1, [2, { k: 1 }], null] }, assert: [{ type: equals, value: 'Say {{a}}' }] }
  - { vars: { a: [] }, assert: [{ type: equals, value: 'Say ' }] }
`;
    const { exitCode, stdout } = await runConfiguration({ 'promptfooconfig.yaml': text });
    expect(stdout).toContain('9 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  it('of the environment are not the properties that every object has', async () => {
    const config = CONFIG.replace("'Tell", "'{{env.constructor}} Tell");
    const { exitCode, stderr } = await runConfiguration({ 'promptfooconfig.yaml': config });
    expect(stderr).toContain('promptfooconfig.yaml:2: ');
    expect(exitCode).toBe(EXIT.usage);
  });
});
