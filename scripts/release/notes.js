// Prints the section of a version in CHANGELOG.md: `node scripts/release/notes.js <version>`.
import { readFileSync } from 'node:fs';

const [version] = process.argv.slice(2);
const section = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^(?=## )/m)
  .find(text => text.startsWith(`## ${version} (`));
if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}`);
process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`);
