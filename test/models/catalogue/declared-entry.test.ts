import { describe, expect, it } from 'vitest';
import { parseModelsFile } from '../../../src/models/catalogue/read-models-file.ts';
import { parseDeclaredModel } from '../programs/parse-declared-model.ts';

const findFault = (...lines: string[]): string | undefined => {
  const head = ['models:', '  - model: thing', '    modality: text'];
  const text = [
    ...head,
    ...lines.map(line => `    ${line}`),
    '  - {model: other, modality: text, program: [cat]}',
  ];
  const { models, faults } = parseModelsFile(text.join('\n'), '/m/models.yaml', []);

  expect(models.map(({ model }) => model)).toContain('other');

  return faults[0];
};

describe('a program or an address in models.yaml', () => {
  it('is a model with what its answer says and costs', () => {
    const entry = {
      program: ['claude', '-p', '${prompt}'],
      output: 'result',
      cost: 'total_cost_usd',
      timeout: '90s',
    };

    expect(parseDeclaredModel({ ...entry, price: { run: 0.05 }, folder: 'temporary' })).toEqual({
      model: 'declared-model',
      modality: 'text',
      engine: 'program',
      runOptions: [],
      credits: 2,
      price: { input: 0, output: 0, run: 0.05 },
      declaration: {
        kind: 'program',
        sourceFolder: '/models',
        timeoutMs: 90_000,
        output: 'result',
        cost: 'total_cost_usd',
        argv: ['claude', '-p', '${prompt}'],
        usesTemporaryFolder: true,
        placeholders: [{ name: 'prompt' }],
      },
    });

    const prices = { run: 0.05, input: 2, output: 8 };
    expect(parseDeclaredModel({ ...entry, price: prices }).price).toEqual({
      input: 0,
      output: 0,
      run: 0.05,
    });

    const address = {
      address: 'http://localhost:9/a?q=${input.question}',
      tokens: { input: 'in', output: 'out' },
    };
    expect(parseDeclaredModel(address).declaration).toMatchObject({
      kind: 'address',
      method: 'POST',
      timeoutMs: 600_000,
    });
  });

  it.each([
    [['program: [cat, "${promt}"]'], /:4: \$\{promt\} is not a placeholder/],
    [['program: [cat, "${prompt"]'], /:4: a `\$\{` has no `\}`/],
    [['program: [cat, "${env.KEY}"]'], /:4: program can't contain \$\{env\.KEY\}/],
    [['program: ["${input.what}"]'], /:4: program takes only \$\{here\} in its first word/],
    [['program: []'], /:4: program is empty/],
    [['program: [cat]', 'folder: other'], /:5: folder must be temporary/],
    [['program: [cat]', 'timeout: soon'], /:5: timeout must be a time/],
    [['program: [cat]', 'output: "a["'], /:5: output is not JMESPath/],
    [['program: [cat]', 'provider: openai'], /:5: `provider` is not a key of/],
    [['program: [cat]', 'price: {run: 1, input: hot}'], /:5: input must be /],
    [['address: "https://${input.host}/"'], /:4: address allows placeholders only after/],
    [['address: "https://a.example:${input.port}/"'], /:4: address allows placeholders only after/],
    [['address: "https://a.example${prompt}"'], /:4: address allows placeholders only after/],
    [['address: "${prompt}"'], /:4: address must begin with https/],
    [
      ['address: "http://a.example/"'],
      /:4: address must begin with https:\/\/: a\.example is not this machine/,
    ],
    [
      ['address: "https://me:secret@a.example/"'],
      /:4: address can't contain a user name or password/,
    ],
    [
      ['address: "https://a.example/"', 'body: {a: {b: "${nope}"}}'],
      /:5: \$\{nope\} is not a placeholder/,
    ],
    [
      ['address: "https://a.example/"', 'body: {"${prompt}": 1}'],
      /:5: the key `\$\{prompt\}` has a placeholder/,
    ],
    [
      ['address: "https://a.example/"', 'body:', '  a: 1', '  k: "${env.KEY}"'],
      /:7: body can't contain \$\{env\.KEY\}/,
    ],
    [['address: "https://a.example/"', 'headers: {host: b.example}'], /:5: the header `host`/],
    [['address: "https://a.example/"', 'method: CONNECT'], /:5: method must be/],
    [['program: [cat]', 'address: "https://a.example/"'], /:5: `address` is not a key of/],
  ])('with a fault is left out alone: %s', (lines, fault) => {
    expect(findFault(...lines)).toMatch(fault);
  });

  it('may not have the name of a built-in model', () => {
    expect(() => parseDeclaredModel({ model: 'echo', program: ['cat'] })).toThrow(
      /:1: model `echo` is built in/,
    );
  });
});
