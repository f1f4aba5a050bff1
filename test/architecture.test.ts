import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..', 'src');

const IMPORT =
  /(?:^|[^\w.])(?:import|export)\s*(?:type\s)?(?:[^'"()]*?\sfrom\s*)?\(?\s*['"]([^'"]+)['"]/gm;

interface Import {
  readonly target: string;
  readonly lazy: boolean;
  readonly typeOnly: boolean;
}

function listSourceFiles(folder: string): string[] {
  return readdirSync(path.join(root, '..', folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.(ts|d\.ts)$/.test(file))
    .map(file => file.split(path.sep).join('/'));
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** Imports of files of the project, as paths below src/. */
function readImports(file: string): Import[] {
  const source = withoutComments(readFileSync(path.join(root, file), 'utf8'));
  return [...source.matchAll(IMPORT)]
    .filter(match => match[1]?.startsWith('.'))
    .map(match => ({
      target: path.posix.normalize(path.posix.join(path.posix.dirname(file), match[1] ?? '')),
      lazy: /import\s*\(/.test(match[0]),
      typeOnly: /(?:import|export)\s+type\s/.test(match[0]),
    }));
}

function findTopFolder(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : file;
}

const ALLOWED: Record<string, readonly string[]> = {
  utils: ['utils'],
  wire: ['wire', 'utils'],
  net: ['net', 'utils'],
  client: ['client', 'net', 'wire', 'utils'],
  files: ['files', 'wire', 'utils'],
  processes: ['processes', 'files', 'utils'],
  prompts: ['prompts', 'processes', 'files', 'wire', 'utils'],
  models: ['models', 'prompts', 'processes', 'files', 'net', 'wire', 'utils', '..'], // package.json, for the user agent of requests
  service: ['service', 'net', 'models', 'prompts', 'processes', 'files', 'wire', 'utils'],
  cli: ['cli', 'processes', 'files', 'net', 'client', 'wire', 'prompts', 'models', 'utils'],
  page: ['page', 'client', 'wire', 'utils'],
  'index.ts': ['client', 'net', 'wire'],
  'main.ts': ['cli', 'service', '..'], // the package's own package.json, for the version
  'run-process.ts': ['service'],
  'binary.ts': ['files'],
};

/**
 * The folders of each top folder from the bottom layer up, a file at its top by its name; those
 * of one layer know nothing of each other.
 */
const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  files: [
    ['open-readable.ts', 'read-text.ts', 'user-folders.ts', 'watch-directory.ts'],
    ['formats'],
    ['writing'],
    ['data-directory.ts', 'installed', 'named-file.ts'],
  ],
  client: [
    ['errors.ts', 'media-url.ts', 'request-options.ts', 'transport.ts', 'url-path.ts', 'usage.ts'],
    ['http', 'nouns'],
    ['client.ts', 'download.ts', 'find-lost-run.ts', 'run-prompt.ts', 'wait-for-run.ts'],
  ],
  prompts: [
    ['bounds.ts', 'definition.ts', 'findings.ts', 'slug.ts'],
    ['schemas', 'template'],
    ['parse', 'render'],
    ['foreign'],
    ['tasks'],
    ['check', 'built-in'],
  ],
  models: [
    ['declared-model.ts', 'engine.ts', 'model-entry.ts', 'outgoing'],
    ['offline', 'providers'],
    ['programs'],
    ['catalogue', 'provider-batches'],
    ['engines.ts'],
  ],
  service: [
    ['core'],
    ['store'],
    ['prompts', 'media', 'keys'],
    ['runs', 'http'],
    ['routes'],
    [
      'compose.ts',
      'embedded.ts',
      'index.ts',
      'local-store.ts',
      'service-options.ts',
      'start-service.ts',
    ],
  ],
  cli: [
    ['core'],
    ['terminal', 'statistics', 'checks'],
    ['settings', 'questions', 'recordings'],
    ['targets'],
    ['inputs'],
    ['outputs', 'complete'],
    ['creation'],
    ['jobs'],
    ['batch', 'testing', 'mcp'],
    ['comparing'],
    ['commands'],
    ['runtime'],
    ['program'],
  ],
};

/** The folders that the context is made of; they take what they need of it, never the whole. */
const BELOW_CONTEXT = ['core', 'terminal', 'settings', 'questions', 'recordings'];

function findCliFolder(file: string): string | undefined {
  const [topFolder, folder, rest] = file.split('/');
  if (topFolder !== 'cli') return undefined;
  return rest === undefined ? 'top' : folder;
}

function findLayer(topFolder: string, folder: string): number {
  return (LAYERS[topFolder] ?? []).findIndex(folders => folders.includes(folder));
}

function mayImportFromTop(folder: string, target: string): boolean {
  return target === 'cli/context.ts' && !BELOW_CONTEXT.includes(folder);
}

const files = listSourceFiles('src');
const graph = new Map(files.map(file => [file, readImports(file)]));
const edges = [...graph].flatMap(([from, imports]) => imports.map(edge => ({ from, ...edge })));

function findCycleFrom(start: string): string[] | undefined {
  const seen = new Set<string>();
  const walk = (file: string, trail: string[]): string[] | undefined => {
    for (const { target } of graph.get(file) ?? []) {
      if (target === start) return [...trail, target];
      if (seen.has(target)) continue;
      seen.add(target);
      const cycle = walk(target, [...trail, target]);
      if (cycle) return cycle;
    }
    return undefined;
  };
  return walk(start, [start]);
}

const DECLARATION =
  /^(?:export )?(?:abstract )?(?:async )?(?:(?:function\*?|class|interface|type) (\w+)|const ([A-Z][A-Z\d_]+)\b)/gm;

/** Names that mean the same in two folders, which know nothing of each other. */
const SHARED_NAMES = ['Clock'];

describe('names of functions, types and constants', () => {
  it('say one thing: no two folders declare the same', () => {
    const folders = new Map<string, Set<string>>();
    for (const file of files) {
      const source = withoutComments(readFileSync(path.join(root, file), 'utf8'));
      for (const [, name = '', constant = ''] of source.matchAll(DECLARATION)) {
        const declaredName = name || constant;
        folders.set(
          declaredName,
          (folders.get(declaredName) ?? new Set()).add(path.posix.dirname(file)),
        );
      }
    }

    const shared = [...folders].filter(
      ([name, { size }]) => size > 1 && !SHARED_NAMES.includes(name),
    );
    expect(shared.map(([name, places]) => `${name}: ${[...places].join(', ')}`)).toEqual([]);
  });

  it('say what a function does or gives, not whose it is', () => {
    const sources = ['src', 'test'].flatMap(folder =>
      listSourceFiles(folder).map(file => path.join(folder, file)),
    );
    const genitives = sources.flatMap(file => {
      const source = withoutComments(readFileSync(path.join(root, '..', file), 'utf8'));
      const names = [
        ...source.matchAll(/\b(?:function\*? (\w+Of)\b|const (\w+Of) = (?:async )?\(.*=>$)/gm),
      ];
      // "One of these" and "a list of these" aren't genitives.
      return names
        .map(([, ofFunction, ofArrow]) => ofFunction ?? ofArrow ?? '')
        .filter(name => !/(?:one|any|all|list)Of$/i.test(name))
        .map(name => `${file}: ${name}`);
    });
    expect(genitives).toEqual([]);
  });
});

describe('imports between folders', () => {
  it('finds the files that it names', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(edges.length).toBeGreaterThan(files.length);
  });

  it('resolves every relative import to a file', () => {
    const missing = edges.filter(
      ({ target }) => !/\.(prompt|json|d\.ts)$/.test(target) && !graph.has(target),
    );
    expect(missing.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('are only those that a folder may have; the command line imports only types of the service', () => {
    const isServiceType = ({ from, target, typeOnly }: Import & { from: string }): boolean =>
      typeOnly && findTopFolder(from) === 'cli' && findTopFolder(target) === 'service';
    const wrongEdges = edges.filter(
      edge =>
        !ALLOWED[findTopFolder(edge.from)]?.includes(findTopFolder(edge.target)) &&
        !isServiceType(edge),
    );
    expect(wrongEdges.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('lets models/ import nothing but types of prompts/', () => {
    const values = edges.filter(
      ({ from, target, typeOnly }) =>
        findTopFolder(from) === 'models' && findTopFolder(target) === 'prompts' && !typeOnly,
    );
    expect(values.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('loads prompts/ and models/ late in the command line, which seldom needs them', () => {
    const early = edges.filter(
      ({ from, target, lazy, typeOnly }) =>
        findTopFolder(from) === 'cli' &&
        ['prompts', 'models'].includes(findTopFolder(target)) &&
        !lazy &&
        !typeOnly,
    );
    expect(early.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('lets main.ts import the service only when it is needed', () => {
    const eager = edges.filter(
      edge =>
        edge.from === 'main.ts' &&
        findTopFolder(edge.target) === 'service' &&
        !edge.lazy &&
        !edge.typeOnly,
    );
    expect(eager).toEqual([]);
  });

  it('keeps two files at the top of the command line', () => {
    const top = files.filter(file => /^cli\/[^/]+$/.test(file));
    expect(top.sort()).toEqual(['cli/context.ts', 'cli/run-cli.ts']);
  });

  it('lets each folder of the command line import only from folders below it', () => {
    const upward = edges.filter(({ from, target }) => {
      const [importingFolder, importedFolder] = [findCliFolder(from), findCliFolder(target)];
      if (importingFolder === undefined || importedFolder === undefined) return false;
      if (importingFolder === importedFolder) return false;
      if (importedFolder === 'top') return !mayImportFromTop(importingFolder, target);
      if (importingFolder === 'top') return false;

      return findLayer('cli', importedFolder) >= findLayer('cli', importingFolder);
    });
    expect(upward.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it.each(['client', 'files', 'prompts', 'models', 'service'])(
    'lets each folder of %s/ import only from folders below it',
    topFolder => {
      const findFolder = (file: string): string => file.split('/')[1] ?? '';
      const inside = edges.filter(
        ({ from, target }) =>
          findTopFolder(from) === topFolder && findTopFolder(target) === topFolder,
      );
      const isTopFile = (folder: string): boolean => folder.endsWith('.ts');
      const upward = inside.filter(({ from, target }) => {
        const [importingFolder, importedFolder] = [findFolder(from), findFolder(target)];
        const [layer, to] = [
          findLayer(topFolder, importingFolder),
          findLayer(topFolder, importedFolder),
        ];
        if (importingFolder === importedFolder) return false;
        if (layer === to && isTopFile(importingFolder) && isTopFile(importedFolder)) return false;

        return to >= layer;
      });

      expect(upward.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
    },
  );

  it('gives every folder a layer', () => {
    const folders = new Set(
      files
        .map(file => file.split('/'))
        .map(([topFolder = '', folder = '']) => `${topFolder}/${folder}`),
    );
    const without = [...folders].filter(name => {
      const [topFolder = '', folder = ''] = name.split('/');
      return (
        LAYERS[topFolder] !== undefined &&
        !(topFolder === 'cli' && folder.endsWith('.ts')) &&
        findLayer(topFolder, folder) < 0
      );
    });
    expect(without).toEqual([]);
  });

  it('keeps the nouns of the command line apart', () => {
    const findNoun = (file: string): string | undefined =>
      /^cli\/commands\/([^/]+)\//.exec(file)?.[1];
    const crossing = edges.filter(({ from, target }) => {
      const [importingNoun, importedNoun] = [findNoun(from), findNoun(target)];
      return (
        importingNoun !== undefined && importedNoun !== undefined && importingNoun !== importedNoun
      );
    });
    expect(crossing.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('has no circles, not even of types', () => {
    const cycles = files.map(findCycleFrom).filter(cycle => cycle !== undefined);
    expect(cycles.map(cycle => cycle.join(' → '))).toEqual([]);
  });

  it('touches the standard streams of the process in one file of the command line', () => {
    const touching = files.filter(file =>
      /process\.(stdout|stderr)|console\./.test(
        withoutComments(readFileSync(path.join(root, file), 'utf8')),
      ),
    );
    expect(touching).toEqual(['cli/terminal/io.ts']);
  });

  it('reads the environment in the composition roots only', () => {
    const reading = files.filter(file =>
      /process\.env/.test(withoutComments(readFileSync(path.join(root, file), 'utf8'))),
    );
    expect(reading).toEqual([
      'binary.ts',
      'main.ts',
      'run-process.ts',
      'files/installed/fork-built.ts', // hands it on to a process
      'files/installed/unpacked-file.ts', // the executable's own cache
    ]);
  });

  it("creates directories by `makeDirectory`, because Node's recursive mkdir never returns in /proc", () => {
    const recursive = files.filter(file =>
      /mkdir(?:Sync)?\([^;]*recursive/.test(
        withoutComments(readFileSync(path.join(root, file), 'utf8')),
      ),
    );
    expect(recursive).toEqual([]);
  });

  it('never ends the process by itself', () => {
    const ending = files.filter(file =>
      /process\.exit\s*\(/.test(readFileSync(path.join(root, file), 'utf8')),
    );
    expect(ending).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  const text = readFileSync(path.resolve(root, '..', 'ARCHITECTURE.md'), 'utf8');

  it('names files that exist', () => {
    const mentionedFiles = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(match => match[1] ?? '');
    const tests = ['test/architecture.test.ts', 'test/e2e/budgets.test.ts'];
    const existing = [...files.map(file => `src/${file}`), ...tests];
    expect(mentionedFiles.length).toBeGreaterThan(5);
    expect(
      mentionedFiles.filter(name => !existing.some(file => `/${file}`.endsWith(`/${name}`))),
    ).toEqual([]);
  });

  it('has every folder on its map', () => {
    const folders = Object.values(LAYERS)
      .flat(2)
      .filter(folder => !folder.endsWith('.ts'));
    expect(folders.filter(folder => !new RegExp(`\\b${folder}/`).test(text))).toEqual([]);
  });

  it('fits on four screens', () => {
    expect(text.split('\n').length).toBeLessThanOrEqual(180);
  });
});
