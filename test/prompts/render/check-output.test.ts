import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/files/formats/json.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { checkOutput, isJsonOutput } from '../../../src/prompts/render/check-output.ts';

const person = parsePromptFile(
  [
    '---',
    'output:',
    '  schema:',
    '    name: string',
    '    age?: integer',
    '    tags?(array): string',
    '    mood?(enum): [gay, sad]',
    '---',
    'x',
  ].join('\n'),
  'x.prompt',
);

const checkAgainst = async (schema: JsonObject, text: string) =>
  await checkOutput({ output: { schema } }, text);

describe('an answer that is to match a schema', () => {
  it('is returned unchanged if it matches', async () => {
    const text = '{"name": "Ada",  "age": null, "tags": []}\n';
    expect(await checkOutput(person, text)).toEqual({ text });
  });

  it('is taken out of a code fence that it is alone in', async () => {
    const json = '{"name": "Ada"}';
    for (const fence of [
      '```json\n%\n```',
      '```\n%\n```\n',
      ' ```JSON\r\n%\r\n```',
      '~~~~\n%\n~~~~',
      '```json\n%\n````',
    ]) {
      expect(JSON.parse((await checkOutput(person, fence.replace('%', json))).text)).toEqual({
        name: 'Ada',
      });
    }

    const surroundedJson = `Here it is:\n\`\`\`json\n${json}\n\`\`\``;
    expect(await checkOutput(person, surroundedJson)).toEqual({
      text: surroundedJson,
      fault: expect.stringContaining('not JSON'),
    });
  });

  it('stays in a code fence that a shorter one closes', async () => {
    expect(await checkOutput(person, '````json\n{"name": "Ada"}\n```')).toEqual({
      text: expect.stringContaining('````json'),
      fault: expect.stringContaining('not JSON'),
    });
  });

  it.each([
    ['Ada is 36.', /^the output is not JSON, at "": /],
    ['', /^the output is not JSON, at "": /],
    ['[]', /at "": must be object$/],
    ['{"name": 1}', /at "\/name": must be string$/],
    ['{"age": 1}', /at "\/name": is missing$/],
    ['{"name": "a", "age": 1.5}', /at "\/age": must be integer or null$/],
    ['{"name": "a", "tags": ["b", 2]}', /at "\/tags\/1": must be string$/],
    ['{"name": "a", "a/b~c": 2}', /at "\/a~1b~0c": is not in the schema$/],
    ['{"name": "a", "mood": "x"}', /at "\/mood": must be one of "gay", "sad", null$/],
  ])('%j fails with the place, and is kept', async (text, fault) => {
    expect(await checkOutput(person, text)).toEqual({ text, fault: expect.stringMatching(fault) });
  });

  it('may be any JSON if only the format is set, and anything without a format', async () => {
    expect(await checkOutput({ output: { format: 'json' } }, '```\n1\n```')).toEqual({ text: '1' });
    expect(await checkOutput({ output: { format: 'json' } }, 'one')).toMatchObject({
      fault: expect.any(String),
    });
    expect(await checkOutput({ output: { format: 'text' } }, '```\n1\n```')).toEqual({
      text: '```\n1\n```',
    });
    expect([{}, { format: 'text' }, { format: 'json' }, { schema: {} }].map(isJsonOutput)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('may be checked against a schema that refers to its own parts', async () => {
    const tree = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } };
    expect(await checkAgainst(tree, '{"kids": [{"kids": []}]}')).not.toHaveProperty('fault');
    expect(await checkAgainst(tree, '{"kids": [{"kids": 1}]}')).toMatchObject({
      fault: expect.stringContaining('"/kids/0/kids"'),
    });
  });
});

describe('a schema that takes too long', () => {
  it('is an error with the bound: a pattern that tries every way', async () => {
    const text = JSON.stringify(`${'a'.repeat(60)}b`);
    await expect(
      checkOutput({ output: { schema: { type: 'string', pattern: '^(a+)+$' } } }, text, 50),
    ).rejects.toThrow('checking a value against its schema takes longer than 0.05 s');
  });

  it('is an error with the bound: branches that multiply', async () => {
    const levels = Array.from({ length: 40 }, (_, n) => {
      const next = { $ref: `#/$defs/d${n + 1}` };
      return [`d${n}`, { anyOf: [next, next] }] as const;
    });
    const schema = {
      $ref: '#/$defs/d0',
      $defs: { ...Object.fromEntries(levels), d40: { type: 'string' } },
    };
    await expect(checkOutput({ output: { schema } }, '1', 50)).rejects.toThrow(
      'checking a value against its schema takes longer than 0.05 s',
    );
  });

  it('is an error if it refers to itself, and fails the answer if it refers elsewhere', async () => {
    await expect(checkAgainst({ allOf: [{ $ref: '#' }] }, '1')).rejects.toThrow(
      'the schema refers to itself without end',
    );
    expect(await checkAgainst({ $ref: 'https://example.com/x' }, '1')).toMatchObject({
      fault: expect.stringContaining("the schema can't be used"),
    });
  });
});
