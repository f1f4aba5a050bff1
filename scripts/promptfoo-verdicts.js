// Asks promptfoo for its verdict on each row of test/cli/testing/promptfoo-verdicts.json, and writes it there:
//
//   npm install --prefix <folder> promptfoo@0.121
//   npm run verdicts <folder>
//
// A row that has only an assertion and an answer gets its verdict; promptfoo is not among our dependencies.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const FILE = path.join(import.meta.dirname, '../test/cli/testing/promptfoo-verdicts.json');

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder in which promptfoo is installed.');
const installed = path.resolve(folder, 'node_modules/promptfoo');
const { version } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
const loaded = await import(pathToFileURL(path.join(installed, 'dist/src/index.js')).href);
const { runAssertion } = loaded.default.assertions;

const { rows } = JSON.parse(readFileSync(FILE, 'utf8'));
const lines = [];
for (const { assertion, output } of rows) {
  const asked = { prompt: output, assertion, test: { vars: { output } }, providerResponse: { output } };
  const { pass } = await runAssertion(asked);
  lines.push(`    ${JSON.stringify({ assertion, output, pass })}`);
}
writeFileSync(FILE, `{\n  "promptfoo": "${version}",\n  "rows": [\n${lines.join(',\n')}\n  ]\n}\n`);
