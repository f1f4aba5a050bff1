// Draws docs/terminal.svg, the terminal in the README: runs its commands on a terminal, and draws what they print. Another
// file can be given as the argument.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const COMMANDS = [
  'promptrun run hello -i name=Ada',
  'promptrun prompts new explain.prompt --quiet',
  'promptrun test',
  'promptrun batch hello --from names.csv --out results.jsonl',
  'promptrun run helo -i name=Ada; echo "exit code $?"',
];
const COLUMNS = 92;
/**
 * Sets the terminal's title: once it has arrived, so has everything before it. Then waits, because what is not yet read may
 * be lost when the last program on the terminal ends.
 */
const END_COMMANDS = "printf '\\033]0;end\\007'; read -r";

const CHARACTER_SIZE = { width: 8.4, height: 19 };
const MARGIN = { side: 18, top: 46, bottom: 18 };
const FOREGROUND = '#d8dee9';
const PALETTE = [
  '#3b4252',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#d8dee9',
  '#7f8896',
  '#ff7b86',
  '#b5e08f',
  '#ffd98f',
  '#7cc4ff',
  '#dc9bf0',
  '#73d1dd',
  '#ffffff',
];

const home = mkdtempSync(path.join(tmpdir(), 'promptrun-picture-'));
try {
  const svg = draw(await recordLines(COMMANDS));
  writeFileSync(process.argv[2] ?? path.resolve('docs', 'terminal.svg'), svg);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Runs the commands on one terminal, and returns its lines: each command, followed by its output. */
async function recordLines(commands) {
  const screen = new xterm.Terminal({
    cols: COLUMNS,
    rows: 60,
    scrollback: 1000,
    allowProposedApi: true,
  });
  symlinkSync(path.resolve('bin', 'promptrun.js'), path.join(home, 'promptrun'));
  writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nGrace\nKatherine\n');
  for (const command of commands) {
    await writeToScreen(screen, `\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m\r\n`);
    await runOnScreen(command, screen);
  }
  const { active } = screen.buffer;
  return Array.from({ length: active.baseY + active.cursorY }, (_, index) =>
    splitIntoSpans(active.getLine(index)),
  );
}

function runOnScreen(command, screen) {
  const env = {
    HOME: home,
    PATH: `${home}${path.delimiter}${process.env.PATH}`,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  };
  const child = spawn('bash', ['-c', `${command}\n${END_COMMANDS}`], {
    cols: COLUMNS,
    rows: 60,
    cwd: home,
    env,
  });
  child.onData(data => screen.write(data));
  const answers = screen.onData(answer => child.write(answer));
  return new Promise(resolve => {
    const title = screen.onTitleChange(() => {
      answers.dispose();
      title.dispose();
      child.kill();
      resolve();
    });
  });
}

function writeToScreen(screen, text) {
  return new Promise(resolve => {
    screen.write(text, resolve);
  });
}

/** Returns the spans of a line with equal attributes, each with its first column. */
function splitIntoSpans(line) {
  const spans = [];
  const { length } = line.translateToString(true);
  for (let column = 0; column < length; column += 1) {
    const cell = line.getCell(column);
    const attributes = toSvgAttributes(cell);
    const last = spans.at(-1);
    if (last?.attributes === attributes) last.text += cell.getChars() || ' ';
    else spans.push({ column, attributes, text: cell.getChars() || ' ' });
  }
  return spans;
}

/** Returns the differences of a cell from plain text, as attributes of SVG. */
function toSvgAttributes(cell) {
  const colour = cell.isFgPalette() ? PALETTE[cell.getFgColor()] : undefined;
  return [
    colour && ` fill="${colour}"`,
    cell.isBold() && ' font-weight="bold"',
    cell.isDim() && ' opacity="0.65"',
  ]
    .filter(Boolean)
    .join('');
}

function draw(lines) {
  const width = Math.ceil(COLUMNS * CHARACTER_SIZE.width + 2 * MARGIN.side);
  const height = lines.length * CHARACTER_SIZE.height + MARGIN.top + MARGIN.bottom;
  const texts = lines.map(drawLine);
  const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
    (colour, index) => `<circle cx="${20 + index * 20}" cy="20" r="6" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="promptrun on a terminal">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#1e222a"/>`,
    ...dots,
    `<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${FOREGROUND}">`,
    // Browsers set white-space on every text, so that setting it on the group is not enough.
    '<style>text { white-space: pre }</style>',
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Draws a line as one text, whose characters stand side by side in the viewer's own fixed-width font. */
function drawLine(spans, row) {
  const y = MARGIN.top + row * CHARACTER_SIZE.height;
  const parts = spans.map(({ attributes, text }) =>
    attributes === '' ? escape(text) : `<tspan${attributes}>${escape(text)}</tspan>`,
  );
  return `<text x="${MARGIN.side}" y="${y}">${parts.join('').trimEnd()}</text>`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
