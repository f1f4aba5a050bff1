#!/usr/bin/env node
const wanted = [20, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  console.error(
    `error: promptrun needs Node ${wanted.join('.')} or later; this is Node ${process.versions.node}`,
  );
  process.exitCode = 1;
} else {
  import('../dist/main.js')
    .then(({ main }) => main(process.argv.slice(2)))
    .then(exitCode => {
      process.exitCode = exitCode;
    });
}
