// The files of the built command. Each file that a command loads costs about a millisecond, so modules that are loaded
// together share one. The bundler itself splits the modules that no line here reaches.
import { realpathSync } from 'node:fs';
import path from 'node:path';

/** The modules that each file begins with. A module belongs to the first file that reaches it without a late import. */
const ROOT_MODULES_BY_FILE = {
  // Modules that the process for checks shares with the rest. In one of its files, it would load that file too.
  checks: [
    'src/utils/limit-exceeded.ts',
    'src/utils/error-utils.ts',
    'src/files/formats/json.ts',
    'src/prompts/schemas/mismatch.ts',
    'src/utils/bounded-json.ts',
  ],
  start: ['src/main.ts'],
  action: [
    'src/cli/program/run-action.ts',
    'src/cli/core/paths.ts',
    'src/cli/inputs/read-input-fields.ts',
    'src/cli/outputs/present.ts',
    'src/cli/settings/journal/journal.ts',
    'src/cli/targets/prompt-file.ts',
    'src/cli/terminal/spinner.ts',
  ],
  failure: ['src/cli/program/report-error.ts'],
  complete: ['src/cli/complete/complete.ts'],
  resources: ['src/cli/commands/resources/resources.ts'],
  client: [
    'src/client/client.ts',
    'src/client/transport.ts',
    'src/client/http/undici-transport.ts',
  ],
  run: ['src/cli/commands/run/run-target.ts'],
  undici: [
    'undici/lib/api/api-request.js',
    'undici/lib/core/connect.js',
    'undici/lib/dispatcher/agent.js',
  ],
  proxy: ['undici/lib/api/api-connect.js', 'undici/lib/dispatcher/proxy-agent.js'],
  // Modules that the process for prompts shares with the service.
  tasks: [
    'src/files/installed/single-file.ts',
    'src/prompts/parse/option-values.ts',
    'src/prompts/parse/prompt-source.ts',
    'src/prompts/tasks/perform-task.ts',
  ],
  embedded: ['src/service/embedded.ts'],
  expressions: ['src/utils/jmespath.ts'],
  'reference-loop': ['src/prompts/schemas/reference-loop.ts'],
  language: ['src/prompts/foreign/parse-any-prompt.ts'],
  store: ['src/service/local-store.ts'],
  serve: ['src/service/start-service.ts'],
};

/**
 * Returns a function that names the file of a module once the graph of modules is complete. It returns null for a module that
 * is left to the bundler.
 */
export function createChunkNames() {
  let fileNames;
  return (id, context) => {
    fileNames ??= assignNames(module => context.getModuleInfo(module)?.importedIds);
    return fileNames.get(id) ?? null;
  };
}

function assignNames(getImportedIds) {
  const fileNames = new Map();
  for (const [file, roots] of Object.entries(ROOT_MODULES_BY_FILE)) {
    for (const root of roots) {
      const id = realpathSync(root.startsWith('src/') ? root : path.join('node_modules', root));
      if (!getImportedIds(id)) {
        throw new Error(`scripts/chunks.js names ${root}, which the command does not use`);
      }
      assignWithImports(id, file);
    }
  }
  return fileNames;

  function assignWithImports(id, file) {
    if (fileNames.has(id)) return;
    fileNames.set(id, file);
    for (const importedId of getImportedIds(id) ?? []) assignWithImports(importedId, file);
  }
}
