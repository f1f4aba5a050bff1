// Draws docs/how-sure.svg, the picture in the guide: how much runs say, what they cost, and what a gate stops. The
// intervals are computed by the program's own statistics; the gates are those in the guide's table. Another file can be
// given as the argument.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'rolldown';

const WIDTH = 760;
const BAR = { x: 190, width: 300, height: 14 };
const ROW_HEIGHT = 30;
const PASSED_AND_RUN_COUNTS = [
  [1, 1],
  [9, 10],
  [45, 50],
  [90, 100],
];

const { computeWilsonInterval, formatInterval } = await importSource(
  'src/cli/statistics/interval.ts',
);
const parts = [];
let y = 34;

drawHeading('When and how often: what runs of one case say about its true rate');
for (const [passed, runs] of PASSED_AND_RUN_COUNTS) {
  const interval = computeWilsonInterval(passed / runs, runs);
  const price = runs === 1 ? 'price of 1 run' : `price of ${runs} runs`;
  drawRow(
    `${passed} of ${runs} passed`,
    interval,
    passed / runs,
    `${formatInterval(interval)} · ${price}`,
  );
}
drawLine(
  `--sure stops as soon as the answers decide: ${readSureRuns()} runs instead of 100 for a case at 60 % that needs 80 %.`,
);
drawLine(
  '--provider-batch has every run answered at half the price, within hours instead of seconds.',
);
y += 16;
drawHeading('A good gate: how often --baseline --fail-on worse stops a change');
for (const [cases, runs, unchanged, , worse] of readGates()) {
  const name = `${cases} cases, ${runs === '1' ? '1 run' : `${runs} runs`} each`;
  drawRow(
    name,
    [0, Number.parseFloat(worse) / 100],
    undefined,
    `${worse} (nothing changed: ${unchanged})`,
  );
}
drawLine(
  'The bar is the share of changes 10 points worse, of a prompt that passes 90 % of the time, that are stopped.',
);
drawLine('Write 300 cases if you can. If you have 12, run each 25 times.');

writeFileSync(process.argv[2] ?? path.resolve('docs', 'how-sure.svg'), buildPicture());

/** Imports a module of the command's source. */
async function importSource(file) {
  const { output } = await build({ input: file, write: false });
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);
}

function readGuide() {
  return readFileSync(path.resolve('docs', 'how-sure.md'), 'utf8');
}

/** Returns the average number of runs in the guide's table of `--sure`. */
function readSureRuns() {
  const [, runs] = /^\| 80 % \| 60 % \| (\d+) \|/mu.exec(readGuide());
  return runs;
}

/** Returns the rows of the guide's table of gates. */
function readGates() {
  const [, table] = readGuide().split('| cases | runs of each |');
  return table
    .split('\n')
    .slice(2)
    .filter((_, index, lines) => lines.slice(0, index + 1).every(text => text.startsWith('|')))
    .map(text =>
      text
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    );
}

function drawHeading(text) {
  parts.push(`<text class="heading" x="20" y="${y}">${text}</text>`);
  y += ROW_HEIGHT;
}

function drawLine(text) {
  parts.push(`<text class="dim" x="20" y="${y}">${text}</text>`);
  y += 22;
}

/** Draws a bar between its name and its figures. */
function drawRow(name, [low, high], value, figures) {
  const toX = share => (BAR.x + share * BAR.width).toFixed(1);
  const top = y - 12;
  parts.push(
    `<text x="20" y="${y}">${name}</text>`,
    `<rect class="scale" x="${BAR.x}" y="${top}" width="${BAR.width}" height="${BAR.height}"/>`,
    `<rect class="bar" x="${toX(low)}" y="${top}" width="${((high - low) * BAR.width).toFixed(1)}" height="${BAR.height}"/>`,
  );
  if (value !== undefined) {
    parts.push(
      `<rect class="value" x="${toX(value)}" y="${top}" width="3" height="${BAR.height}"/>`,
    );
  }
  parts.push(`<text x="${BAR.x + BAR.width + 12}" y="${y}">${figures}</text>`);
  y += ROW_HEIGHT - 6;
}

function buildPicture() {
  const label = 'How much repeated runs say, what they cost, and how often a gate stops a change';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-label="${label}">`,
    '<style>',
    "text { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1d2330 }",
    '.heading { font-weight: 600; font-size: 15px }',
    '.dim { fill: #606876 }',
    '.back { fill: #fff }',
    '.scale { fill: #eceff4 }',
    '.bar { fill: #7fb899 }',
    '.value { fill: #1b7a43 }',
    '@media (prefers-color-scheme: dark) {',
    'text { fill: #e4e7ee } .dim { fill: #9aa3b2 } .back { fill: #14171d } .scale { fill: #2a303b }',
    '.bar { fill: #35684c } .value { fill: #5fd08f }',
    '}',
    '</style>',
    `<rect class="back" width="${WIDTH}" height="${y}" rx="8"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
