// Trims two files that others maintain to what the tests need of them, and writes them to test/models/providers/described:
//
//   npm run descriptions <openapi.json of openai/openai-openapi> <usages.json of pydantic/genai-prices>
//
// usages.json lies in tests/dataset of its repository. The README beside the results names the commits and the licences.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const TARGET = path.join(import.meta.dirname, '../test/models/providers/described');

/** Endpoints that requests go to. */
const ENDPOINTS = ['/responses', '/chat/completions', '/batches', '/images/generations'];

/** Prose, which validates nothing. */
const PROSE = new Set(['description', 'title', 'example', 'examples', 'deprecated', 'x-oaiMeta']);

/** Interfaces, the names of their forms in the data set, and the files whose bodies really have that form. */
const FORMS = [
  ['Messages', 'anthropic default', /./],
  ['Messages', 'aws anthropic', /./],
  ['Converse', 'aws default', /./],
  ['generateContent', 'google default', /./],
  ['Responses', 'openai responses', /^(?!.*anthropic)/],
  ['Chat Completions', 'openai chat', /./],
  ['Chat Completions', 'openrouter chat', /./],
  ['Chat Completions', 'groq default', /groq/],
  ['Chat Completions', 'mistral default', /mistral/],
  ['Chat Completions', 'deepseek chat', /deepseek/],
  ['Chat Completions', 'cerebras chat', /cerebras/],
];

/**
 * Bodies that are not an answer of one request to a model of text: embeddings, and a turn of several requests. The third is a
 * body of Gemini's endpoint for Chat Completions, which counts thinking in the total alone; the data set leaves it out.
 */
const EXCLUDED_FILES =
  /embedding|test_anthropic_compaction|test_compatible_api_with_tool_calls_without_id/;

/** Maximum number of bodies with the same fields. */
const MAX_SIMILAR_BODIES = 2;

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'];

const [openApi, usages] = process.argv.slice(2);
if (!openApi || !usages) {
  throw new Error('usage: provider-descriptions.js <openapi.json> <usages.json>');
}
write('openai.json', trimDescription(read(openApi)));
write('usages.json', collectUsages(read(usages)));

function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function trimDescription({ paths, components }) {
  const schemas = {};
  const collectSchemas = value => {
    if (typeof value !== 'object' || value === null) return;
    const name =
      typeof value.$ref === 'string' ? value.$ref.replace('#/components/schemas/', '') : undefined;
    if (name !== undefined && !(name in schemas)) {
      schemas[name] = withoutProse(components.schemas[name]);
      collectSchemas(schemas[name]);
    }
    for (const inner of Object.values(value)) collectSchemas(inner);
  };
  const trimmedPaths = ENDPOINTS.map(endpoint => {
    const { content } = paths[endpoint].post.requestBody;
    const body = { content: { 'application/json': withoutProse(content['application/json']) } };
    collectSchemas(body);
    return [endpoint, { post: { requestBody: body } }];
  });
  return {
    paths: Object.fromEntries(trimmedPaths),
    schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Returns a schema without prose. Keeps names of properties that read like keywords. */
function withoutProse(value, isMapOfNames = false) {
  if (Array.isArray(value)) return value.map(item => withoutProse(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => isMapOfNames || !PROSE.has(key));
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      withoutProse(inner, key === 'properties' && !isMapOfNames),
    ]),
  );
}

/** Returns bodies with their token counts, by interface. Leaves out those that are too similar. */
function collectUsages(collected) {
  const rows = Object.fromEntries(FORMS.map(([name]) => [name, new Set()]));
  const countByFields = new Map();
  for (const { body, extracted } of collected) {
    const { file = '', model: _, modelVersion: __, ...counts } = body;
    if (EXCLUDED_FILES.test(file)) continue;
    for (const { extractors, usage } of extracted) {
      const names = extractors.map(({ provider_id, api_flavor }) => `${provider_id} ${api_flavor}`);
      const row = JSON.stringify({ body: counts, tokens: COUNTS.map(key => usage[key] ?? 0) });
      for (const [name, form, files] of FORMS) {
        if (!names.includes(form) || !files.test(file) || rows[name].has(row)) continue;
        const fields = `${form} ${row.replace(/[1-9]\d*(\.\d+)?/g, 'n')}`;
        countByFields.set(fields, (countByFields.get(fields) ?? 0) + 1);
        if (countByFields.get(fields) <= MAX_SIMILAR_BODIES) rows[name].add(row);
      }
    }
  }
  return Object.fromEntries(
    Object.entries(rows).map(([name, found]) => [name, [...found].map(row => JSON.parse(row))]),
  );
}

/** Writes an object with one entry of each part on a line, so that differences can be read. */
function write(file, object) {
  const parts = Object.entries(object).map(([name, part]) => {
    const [open, close] = Array.isArray(part) ? '[]' : '{}';
    const lines = Object.entries(part).map(([key, value]) =>
      Array.isArray(part)
        ? JSON.stringify(value)
        : `${JSON.stringify(key)}: ${JSON.stringify(value)}`,
    );
    return `${JSON.stringify(name)}: ${open}\n${lines.join(',\n')}\n${close}`;
  });
  writeFileSync(path.join(TARGET, file), `{\n${parts.join(',\n')}\n}\n`);
}
