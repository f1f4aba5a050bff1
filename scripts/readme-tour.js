// Runs the README's tour with the installed command and checks the output. With a shell (powershell.exe, cmd.exe), each
// line goes to it unchanged; with the command's file, lines are split here and need no shell.
// The report goes to a file too: what programs print under Wine gets lost on its way into a pipe of Linux.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const [shellOrCommand, reportFile] = process.argv.slice(2);
if (shellOrCommand === undefined || reportFile === undefined) {
  throw new Error('usage: node scripts/readme-tour.js <shell or bin/promptrun.js> <report file>');
}
const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-tour-'));
const report = [];
let failedCount = 0;

const check = (description, isPassed, detail = '') => {
  if (!isPassed) failedCount += 1;
  report.push(`${isPassed ? 'passed' : 'FAILED'} ${description}${isPassed ? '' : `\n${detail}`}`);
};

// These paths are absolute, so that they have backslashes and a drive on Windows.
const toAbsolutePath = name => path.join(directory, name);
const linesWithPaths = [
  `promptrun run "${toAbsolutePath('note.prompt')}" -i "topic=@${toAbsolutePath('names.csv')}"`,
  `promptrun batch hello --from "${toAbsolutePath('names.csv')}" --out "${toAbsolutePath('named.jsonl')}"`,
];

const outputs = [...readTourLines(), ...linesWithPaths].map(line => {
  const { status, error, stdout, stderr } = runLine(line);
  check(line, status === 0, `exit ${status} ${error ?? ''}\n${stdout}${stderr}`);
  return stdout;
});
const readBytes = name => {
  const file = path.join(directory, name);
  return existsSync(file) ? readFileSync(file) : Buffer.from('');
};
check('ten commands', outputs.length >= 10);
check('the first command greets Ada', outputs[0]?.includes('Ada'), outputs[0]);
check('the filter prints the status', outputs.includes('succeeded\n'), outputs.join('\n'));
const imageName = readdirSync(directory).find(name => name.endsWith('.png'));
check(
  'the image is a PNG',
  imageName !== undefined && readBytes(imageName).subarray(1, 4).toString() === 'PNG',
);
check('an input from a file by its path', outputs.at(-2)?.includes('Ada\nGrace'), outputs.at(-2));
const rows = readBytes('results.jsonl').toString().trim().split('\n');
check('the batch has two rows', rows.length === 2, rows.join('\n'));

if (/^(?:powershell|pwsh)\.exe$/.test(shellOrCommand)) {
  const { stdout, stderr } = runLine(
    "promptrun completion powershell | Out-String | Invoke-Expression; (TabExpansion2 'promptrun compl' 15).CompletionMatches.CompletionText",
  );
  check('Tab completes a command', stdout.trim() === 'completion', `${stdout}${stderr}`);
}

report.push(`the tour: ${failedCount} failed`);
writeFileSync(reportFile, `${report.join('\n')}\n`);
process.stdout.write(`${report.join('\n')}\n`);
process.exitCode = failedCount === 0 ? 0 : 1;

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
  if (!shellOrCommand.endsWith('.js')) {
    return spawnSync(line, { ...options, shell: shellOrCommand });
  }
  const [program, ...words] = line.match(/"[^"]*"|[^\s"]+/g).map(word => word.replaceAll('"', ''));
  return spawnSync(
    process.execPath,
    program === 'promptrun' ? [shellOrCommand, ...words] : words,
    options,
  );
}
