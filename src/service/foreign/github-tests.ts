import { faultAt, isEmpty, type YamlEntry, type YamlReader, type YamlValue } from '../files/yaml-file.ts';
import type { Findings } from '../prompts/findings.ts';
import { filled } from './as-template.ts';
import type { ForeignCase, ForeignExpectation, ForeignTests } from './foreign-tests.ts';

type Entries = ReadonlyMap<string, YamlEntry>;

/** An evaluator, as the expectation that it is for a row. */
type Evaluator = (row: Row) => ForeignExpectation;

interface Row {
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** In the order in which the first one counts. */
const STRING_CHECKS = {
  equals: 'equals',
  contains: 'icontains',
  startsWith: 'istartsWith',
  endsWith: 'iendsWith',
} as const;

/** What the built-in evaluators of GitHub Models ask, in words of ours, and the fields of a row that they ask about. */
const BUILT_IN: { readonly [name: string]: { readonly asks: string; readonly about: readonly string[] } } = {
  similarity: { asks: 'says in substance the same as the expected answer', about: ['expected'] },
  relevance: { asks: 'answers what the input asks, and keeps to it', about: ['input'] },
  coherence: { asks: 'hangs together: it is logical, ordered and easy to follow', about: ['input'] },
  fluency: { asks: 'is fluent: correct in grammar, natural in wording, and readable', about: [] },
  groundedness: {
    asks: 'says nothing that the context does not support',
    about: ['input', 'context'],
  },
};

/** The cases that `testData` and `evaluators` are; undefined without test data. What is wrong becomes a finding. */
export function readGithubTests(
  entries: Entries,
  read: YamlReader,
  findings: Findings,
  inputs: readonly string[],
): ForeignTests | undefined {
  const data = entries.get('testData');
  if (!data || isEmpty(data.value)) return undefined;
  const reader = new TestsReader(read, findings);
  const evaluators = reader.evaluators(entries.get('evaluators'));
  const rows = findings.attempt(() => read.items(data.value, 'testData')) ?? [];
  const cases = rows.flatMap((row, at) => reader.case(row, at + 1, evaluators, inputs) ?? []);
  const model = entries.get('model');
  const name =
    model && !isEmpty(model.value) ? findings.attempt(() => read.text(model.value, 'model')) : undefined;
  return { ...(name !== undefined && { model: name }), cases, notes: reader.notes };
}

class TestsReader {
  readonly notes: { line: number; message: string }[] = [];
  readonly #read: YamlReader;
  readonly #findings: Findings;
  #places = 0;

  constructor(read: YamlReader, findings: Findings) {
    this.#read = read;
    this.#findings = findings;
  }

  case(
    item: YamlValue,
    number: number,
    evaluators: readonly Evaluator[],
    inputs: readonly string[],
  ): ForeignCase | undefined {
    return this.#findings.attempt(() => {
      const entries = this.#read.entries(item, 'a row of testData');
      const fields = Object.fromEntries(entries.map(({ key, value }) => [key, this.#field(value)]));
      const [first = ''] = Object.values(fields);
      const beginning = first.trim().replace(/\s+/gu, ' ').slice(0, 40);
      const isInput = ([key]: readonly [string, string]): boolean => inputs.includes(key);
      return {
        name: beginning === '' ? String(number) : `${number}: ${beginning}`,
        line: item.line,
        inputs: Object.fromEntries(Object.entries(fields).filter(isInput)),
        data: Object.fromEntries(Object.entries(fields).filter(field => !isInput(field))),
        expect: evaluators.map(evaluator => evaluator({ line: item.line, fields })),
      };
    });
  }

  /** Numbers and booleans stand for their text, as written; lists and maps for their JSON. */
  #field(value: YamlValue): string {
    if (isEmpty(value)) return '';
    const json = this.#read.json(value);
    return typeof json === 'object' ? JSON.stringify(json) : this.#read.text(value, 'a field');
  }

  evaluators(entry: YamlEntry | undefined): Evaluator[] {
    if (!entry || isEmpty(entry.value)) return [];
    const items = this.#findings.attempt(() => this.#read.items(entry.value, 'evaluators')) ?? [];
    return items.flatMap(item => this.#findings.attempt(() => this.#evaluator(item)) ?? []);
  }

  #evaluator(item: YamlValue): Evaluator {
    const entries = new Map(this.#read.entries(item, 'an evaluator').map(entry => [entry.key, entry]));
    const [kind, ...others] = ['string', 'llm', 'uses'].flatMap(name => entries.get(name) ?? []);
    const [stranger] = [...entries.values()].filter(
      ({ key }) => !['name', 'string', 'llm', 'uses'].includes(key),
    );
    if (!kind || stranger || others.length > 0) {
      const what = stranger ? `\`${stranger.key}\` is not known` : 'an evaluator has one kind';
      throw faultAt(stranger ?? others[0] ?? item, `${what}: there are string, llm and uses`);
    }
    this.#places += 1;
    const place = { line: kind.line, at: this.#places };
    if (kind.key === 'string') return this.#stringCheck(kind, place);
    return kind.key === 'llm' ? this.#llm(kind, place) : this.#builtIn(kind, place);
  }

  #stringCheck(entry: YamlEntry, place: { line: number; at: number }): Evaluator {
    const checks = this.#read.entries(entry.value, 'string');
    const stranger = checks.find(({ key }) => !Object.hasOwn(STRING_CHECKS, key));
    if (stranger) {
      const known = Object.keys(STRING_CHECKS).join(', ');
      throw faultAt(stranger, `\`${stranger.key}\` is not a check of a string: there are ${known}`);
    }
    const known = Object.entries(STRING_CHECKS).flatMap(([name, kind]) => {
      const check = checks.find(({ key, value }) => key === name && !isEmpty(value));
      return check ? [{ kind, check }] : [];
    });
    const [first, ...others] = known;
    if (!first) throw faultAt(entry, '`string` needs contains, startsWith, endsWith or equals');
    for (const { check } of others) {
      const message = `\`${check.key}\` does not count beside \`${first.check.key}\``;
      this.notes.push({ line: check.line, message });
      this.#findings.note(check, message);
    }
    const text = this.#read.text(first.check.value, first.check.key);
    return ({ fields }) => ({ kind: first.kind, ...place, text: filled(text, fields) });
  }

  #llm(entry: YamlEntry, place: { line: number; at: number }): Evaluator {
    const entries = new Map(this.#read.entries(entry.value, 'llm').map(entry => [entry.key, entry]));
    const text = (name: string): string | undefined => {
      const found = entries.get(name);
      return found && !isEmpty(found.value) ? this.#read.text(found.value, name) : undefined;
    };
    const known = ['modelId', 'model', 'prompt', 'systemPrompt', 'choices'];
    for (const stranger of entries.values()) {
      if (!known.includes(stranger.key)) throw faultAt(stranger, `\`${stranger.key}\` is not a key of llm`);
    }
    const prompt = text('prompt');
    const listed = entries.get('choices');
    if (prompt === undefined || !listed) throw faultAt(entry, '`llm` needs a prompt and choices');
    const choices = this.#read.items(listed.value, 'choices').map(item => this.#choice(item));
    const [model, systemPrompt] = [text('modelId') ?? text('model'), text('systemPrompt')];
    const asked = {
      ...(model !== undefined && { model }),
      ...(systemPrompt !== undefined && { systemPrompt }),
    };
    return () => ({ kind: 'llm', ...place, prompt, ...asked, choices });
  }

  #choice(item: YamlValue): { choice: string; score: number } {
    const entries = this.#read.entries(item, 'a choice');
    const [choice, score] = ['choice', 'score'].map(name => entries.find(({ key }) => key === name));
    const value = score && this.#read.json(score.value);
    if (!choice || typeof value !== 'number') throw faultAt(item, 'a choice needs `choice` and a `score`');
    return { choice: this.#read.text(choice.value, 'choice'), score: value };
  }

  #builtIn(entry: YamlEntry, place: { line: number; at: number }): Evaluator {
    const name = this.#read.text(entry.value, 'uses');
    const short = name.replace(/^github\//u, '');
    const known = name.startsWith('github/') && Object.hasOwn(BUILT_IN, short) ? BUILT_IN[short] : undefined;
    if (!known) {
      const names = Object.keys(BUILT_IN).map(name => `github/${name}`);
      throw faultAt(entry.value, `\`${name}\` is not an evaluator: there are ${names.join(', ')}`);
    }
    return row => {
      // The context of groundedness is what the row expects.
      const value = (about: string): string | undefined =>
        row.fields[about === 'context' ? 'expected' : about];
      if (short === 'similarity' && value('expected') === undefined) {
        throw faultAt({ line: row.line, column: 1 }, `${name} needs the field \`expected\` in each row`);
      }
      const facts = known.about.flatMap(about => {
        const fact = value(about);
        return fact === undefined
          ? []
          : [`\n\nThe ${about === 'expected' ? 'expected answer' : about}:\n${fact}`];
      });
      return { kind: 'rubric', ...place, text: `${known.asks}${facts.join('')}` };
    };
  }
}
