import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';
import type { PartialLookup } from './context.ts';
import type { TemplateNode } from './node.ts';
import type { Scope } from './scope.ts';

type CompilePartial = (
  text: string,
  file: string,
  scope: Scope,
  onPartial: (name: string, scope: Scope) => boolean,
) => readonly TemplateNode[];

/** How often partials are read again to see which inputs they use in another context. */
const MAX_READINGS = 300;

/** The partials a prompt uses, each read once for each context it is used in. */
export class PartialLibrary {
  private readonly bodies = new Map<string, readonly TemplateNode[]>();
  private readonly texts = new Map<string, string>();
  private readonly readings = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly lookup: PartialLookup,
    private readonly findings: Findings,
    private readonly compile: CompilePartial,
  ) {}

  /** False where there is no such partial. */
  use(name: string, scope: Scope): boolean {
    const found = this.lookup(name);
    if (!found) return false;
    const reading = `${name}\n${scope.key}`;
    if (this.readings.has(reading) || this.readings.size >= MAX_READINGS) return true;
    this.readings.add(reading);
    if (!this.texts.has(name) && !this.isWithinBounds(found.text)) return true;
    this.texts.set(name, found.text);
    const body = this.compile(found.text, found.file, scope, (name, scope) => this.use(name, scope));
    if (!this.bodies.has(name)) this.bodies.set(name, body);
    return true;
  }

  collected(): {
    partialBodies: Record<string, readonly TemplateNode[]>;
    partials: Record<string, string>;
  } {
    const names = [...this.texts.keys()].sort();
    return {
      partialBodies: Object.fromEntries(names.map(name => [name, this.bodies.get(name) ?? []])),
      partials: Object.fromEntries(names.map(name => [name, this.texts.get(name) ?? ''])),
    };
  }

  private isWithinBounds(text: string): boolean {
    this.bytes += Buffer.byteLength(text);
    const { partials, partialBytes } = BOUNDS;
    if (this.texts.size < partials && this.bytes <= partialBytes) return true;
    this.findings.fault(
      { line: 1, column: 1 },
      `the prompt uses more than ${partials} partials or ${partialBytes / 1024} KiB of them`,
    );
    return false;
  }
}
