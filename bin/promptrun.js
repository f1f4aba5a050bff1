#!/usr/bin/env node
'use strict';

const OLDEST = [20, 19];

/** Arguments with which the command writes nothing to disk. */
const WRITE_NOTHING = ['--version', '-V', '--help', '-h', 'help', 'completion', '__complete'];

async function start() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    process.stderr.write(
      `error: promptrun needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}\n`,
    );
    process.exitCode = 1;
    return;
  }
  const writeCodeCache = require('./code-cache.js').useCodeCache();
  /** @type {{ start(argv: readonly string[]): Promise<void> }} */
  const command = require('../dist/main.cjs');
  const argv = process.argv.slice(2);
  await command.start(argv);
  if (argv.length > 0 && !argv.some(word => WRITE_NOTHING.includes(word))) writeCodeCache();
}

void start();
