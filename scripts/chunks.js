// Which modules share a file of the built command. Every file that a command loads costs about a millisecond, so what
// is always loaded together is one file; the rest is split by itself.
import path from 'node:path';

/** Files by the modules they begin with. A module belongs to the first file that reaches it without a late import. */
const FILES = [{ file: 'start', from: ['src/main.ts'] }];

/** Names the file a module belongs to, once the graph of modules is complete; null leaves it to the bundler. */
export function chunkNames() {
  let names;
  return (id, context) => {
    names ??= assign(name => context.getModuleInfo(name));
    return names.get(id) ?? null;
  };
}

function assign(getModuleInfo) {
  const names = new Map([['\0rolldown/runtime.js', FILES[0].file]]);
  for (const { file, from } of FILES) {
    for (const id of from.map(name => path.resolve(name))) {
      if (!getModuleInfo(id)) {
        throw new Error(`scripts/chunks.js names ${id}, which the command does not use`);
      }
      take(id, file);
    }
  }
  return names;

  function take(id, file) {
    if (names.has(id)) return;
    names.set(id, file);
    for (const imported of getModuleInfo(id)?.importedIds ?? []) take(imported, file);
  }
}
