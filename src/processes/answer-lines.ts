/**
 * Code for `node -e` that keeps standard output for `write`: what other code prints goes to
 * standard error. It needs `self`, the process.
 */
export const RESERVE_STDOUT_CODE = `
const write = self.stdout.write.bind(self.stdout);
self.stdout.write = self.stderr.write.bind(self.stderr);`;

/**
 * Code for `node -e` that defines `answerLines(ask)`: it answers each line of standard input by the
 * text that `ask` makes of it, as PersistentPrograms expect. It needs RESERVE_STDOUT_CODE.
 */
export const ANSWER_LINES_CODE = `
const answerLines = async ask => {
  let rest = '';
  for await (const chunk of self.stdin.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\\n');
    rest = lines.pop();
    for (const line of lines) {
      const { id, ...facts } = JSON.parse(line);
      const answer = await ask(facts);
      // Begins a new line, whatever a program has printed meanwhile.
      write('\\n' + id + ' ' + answer + '\\n');
    }
  }
  self.exit(0);
};`;
