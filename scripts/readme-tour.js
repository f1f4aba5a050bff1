// Runs the README's tour with the installed command and checks the output. With a shell (powershell.exe, cmd.exe), each
// line goes to it unchanged; with the command's file, lines are split here and need no shell.
// The report goes to a file too: what programs print under Wine gets lost on its way into a pipe of Linux.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const [how, reportFile] = process.argv.slice(2);
if (how === undefined || reportFile === undefined) {
  throw new Error('usage: node scripts/readme-tour.js <shell or bin/promptrun.js> <report file>');
}
const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-tour-'));
const report = [];
let failed = 0;

const check = (what, good, detail = '') => {
  if (!good) failed += 1;
  report.push(`${good ? 'passed' : 'FAILED'} ${what}${good ? '' : `\n${detail}`}`);
};

// The paths are absolute: with backslashes and a drive on Windows.
const absolute = name => path.join(directory, name);
const moreLines = [
  `promptrun run "${absolute('note.prompt')}" -i "topic=@${absolute('names.csv')}"`,
  `promptrun batch hello --from "${absolute('names.csv')}" --out "${absolute('named.jsonl')}"`,
];

const outputs = [...readTourLines(), ...moreLines].map(line => {
  const { status, error, stdout, stderr } = runLine(line);
  check(line, status === 0, `exit ${status} ${error ?? ''}\n${stdout}${stderr}`);
  return stdout;
});
const fileText = name => {
  const file = path.join(directory, name);
  return existsSync(file) ? readFileSync(file) : Buffer.from('');
};
check('ten commands', outputs.length >= 10);
check('the first command greets Ada', outputs[0]?.includes('Ada'), outputs[0]);
check('the filter prints the status', outputs.includes('succeeded\n'), outputs.join('\n'));
const picture = readdirSync(directory).find(name => name.endsWith('.png'));
check(
  'the image is a PNG',
  picture !== undefined && fileText(picture).subarray(1, 4).toString() === 'PNG',
);
check('an input from a file by its path', outputs.at(-2)?.includes('Ada\nGrace'), outputs.at(-2));
const rows = fileText('results.jsonl').toString().trim().split('\n');
check('the batch has two rows', rows.length === 2, rows.join('\n'));

if (/^(?:powershell|pwsh)\.exe$/.test(how)) {
  const { stdout, stderr } = runLine(
    "promptrun completion powershell | Out-String | Invoke-Expression; (TabExpansion2 'promptrun compl' 15).CompletionMatches.CompletionText",
  );
  check('Tab completes a command', stdout.trim() === 'completion', `${stdout}${stderr}`);
}

report.push(`the tour: ${failed} failed`);
writeFileSync(reportFile, `${report.join('\n')}\n`);
process.stdout.write(`${report.join('\n')}\n`);
process.exitCode = failed === 0 ? 0 : 1;

function readTourLines() {
  const readme = readFileSync(path.join(import.meta.dirname, '..', 'README.md'), 'utf8').replaceAll(
    '\r\n',
    '\n',
  );
  const tour = readme.split('\n## The tour\n')[1]?.split('\n## ')[0] ?? '';
  return [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    block.trim().split('\n'),
  );
}

function runLine(line) {
  const options = {
    cwd: directory,
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  if (!how.endsWith('.js')) return spawnSync(line, { ...options, shell: how });
  const [program, ...words] = line.match(/"[^"]*"|[^\s"]+/g).map(word => word.replaceAll('"', ''));
  return spawnSync(process.execPath, program === 'promptrun' ? [how, ...words] : words, options);
}
