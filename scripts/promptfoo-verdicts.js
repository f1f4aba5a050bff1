// Asks promptfoo for its verdict on each row of test/cli/testing/promptfoo/verdicts.json, and writes it there:
//
//   npm install --prefix <folder> promptfoo@0.121
//   npm run verdicts <folder>
//
// A row that has no verdict yet gets one; promptfoo is not among our dependencies. A row has the `output` of a model, or the
// whole `result` of a provider that is a program. A row whose output has variables keeps its verdict, which is that of a whole
// evaluation: an assertion alone does not fill them in.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const VERDICTS_FILE = path.join(import.meta.dirname, '../test/cli/testing/promptfoo/verdicts.json');

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder in which promptfoo is installed.');
const packageFolder = path.resolve(folder, 'node_modules/promptfoo');
const { version } = JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8'));
const promptfoo = await import(pathToFileURL(path.join(packageFolder, 'dist/src/index.js')).href);
const { runAssertion } = promptfoo.default.assertions;

const { rows } = JSON.parse(readFileSync(VERDICTS_FILE, 'utf8'));
const lines = [];
for (const { pass: knownPass, ...row } of rows) {
  const { assertion, output, result = { output }, vars, metadata = {} } = row;
  if (knownPass !== undefined && output?.includes('{{')) {
    lines.push(`    ${JSON.stringify({ ...row, pass: knownPass })}`);
    continue;
  }
  const prompt = output ?? '';
  const test = { vars: { output, ...vars }, metadata, options: {} };
  // An evaluation fails the case of an assertion that throws.
  const verdict = await runAssertion({ prompt, assertion, test, providerResponse: result }).catch(
    () => ({}),
  );
  lines.push(`    ${JSON.stringify({ ...row, pass: verdict.pass === true })}`);
}
writeFileSync(
  VERDICTS_FILE,
  `{\n  "promptfoo": "${version}",\n  "rows": [\n${lines.join(',\n')}\n  ]\n}\n`,
);
