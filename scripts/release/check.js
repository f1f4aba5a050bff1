// Reports what a release still lacks: `node scripts/release/check.js <tag>`. The release workflow begins with it, so that
// nothing is published under an address that nobody has named.
import { readFileSync } from 'node:fs';

const [tag] = process.argv.slice(2);
const { version, ...packageJson } = JSON.parse(readFileSync('package.json', 'utf8'));
const changelog = readFileSync('CHANGELOG.md', 'utf8').split('\n');

const missing = ['repository', 'bugs', 'author'].filter(name => packageJson[name] === undefined);
const isDated = line => line.startsWith(`## ${version} (`) && /\(\d{4}-\d{2}-\d{2}\)$/.test(line);
const faults = [
  ...(missing.length > 0
    ? [
        `package.json lacks ${missing.join(', ')}: the owner of the project has to name them before a release`,
      ]
    : []),
  ...(tag === `v${version}`
    ? []
    : [`the tag is ${tag}, and the version in package.json is ${version}`]),
  ...(changelog.some(isDated) ? [] : [`CHANGELOG.md has no section "## ${version} (YYYY-MM-DD)"`]),
];
for (const fault of faults) process.stderr.write(`error: ${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
