// Loaded before the command (`node --require`): writes, at its end, which files and which of Node's modules it loaded.
'use strict';

const { writeFileSync } = process.getBuiltinModule('node:fs');

process.on('exit', () => {
  const files = Object.keys(require.cache).filter(file => file !== __filename);
  const builtins = process.moduleLoadList
    .filter(entry => /^NativeModule (?!internal\/|_)/.test(entry))
    .map(entry => entry.slice('NativeModule '.length));
  writeFileSync(process.env.LOADED_REPORT, JSON.stringify({ files, builtins }));
});
