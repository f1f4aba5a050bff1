import { BOUNDS } from '../bounds.ts';
import type { PromptDefinition } from '../definition.ts';
import { type Finding, Findings } from '../findings.ts';
import { NO_TOOLS_NOTE } from '../parse/front-matter.ts';
import { type ReadSibling, withNamedSchemas } from '../parse/named-schemas.ts';
import {
  type ParsedPrompt,
  type ParseOptions,
  parseDefinition,
  parsePrompt,
  reportNulCharacter,
} from '../parse/parse-prompt.ts';
import { isMissingSchemaNote } from '../schemas/picoschema.ts';
import { toValidSlug } from '../slug.ts';
import { detectFormat, type FileFormat, reportFormat } from './detect-format.ts';
import type { ForeignFormat } from './foreign-format.ts';
import { qualifyModel } from './qualify-model.ts';

/**
 * Maximum size of a prompt file made from another format, in bytes: escaping may enlarge the text,
 * which may occur in it twice.
 */
const MAX_CONVERTED_BYTES = 4 * BOUNDS.fileBytes;

export interface ParseAnyOptions extends ParseOptions {
  /** True to report faults in the file's tests too; default false. */
  readonly checksTests?: boolean | undefined;
  /** Reads another file in the same folder; default none. */
  readonly readSibling?: ReadSibling | undefined;
}

/** A prompt that was read, and the findings that concern each run of it. */
export interface ParsedAnyPrompt extends ParsedPrompt {
  /** Notes on what another tool would do with the file, or which other files are missing. */
  readonly runNotes: readonly Finding[];
}

/** Reads a prompt file, or a file of another format that can be run directly, with all findings. */
export function parseAnyPrompt(
  text: string,
  file: string,
  options: ParseAnyOptions = {},
): ParsedAnyPrompt {
  const format = detectFormat(file, text);
  const parsed = parseFormat(format, text, file, options);
  const notes = parsed.findings.list().filter(({ severity }) => severity === 'note');
  const isPromptFile = format.kind === 'prompt';
  return { ...parsed, runNotes: isPromptFile ? notes.filter(affectsRuns) : notes };
}

/** Returns true for a note on a part of a prompt file that changes what a run sends. */
function affectsRuns({ message }: Finding): boolean {
  return isMissingSchemaNote(message) || message.endsWith(NO_TOOLS_NOTE);
}

function parseFormat(
  format: FileFormat,
  text: string,
  file: string,
  options: ParseAnyOptions,
): ParsedPrompt {
  const findings = new Findings(file);
  if (format.kind === 'prompt') {
    const { readSibling } = options;
    const completeText = readSibling
      ? findings.attempt(() => withNamedSchemas(text, readSibling))
      : text;
    return completeText === undefined
      ? { findings, definition: undefined }
      : parsePrompt(completeText, file, options);
  }

  if (format.kind !== 'foreign') {
    reportFormat(format, file, findings);
    return { findings, definition: undefined };
  }

  if (reportNulCharacter(text, findings)) return { findings, definition: undefined };

  const definition = findings.attempt(() =>
    defineForeign(format.foreignFormat, { text, file }, findings, options),
  );
  return { findings, definition };
}

/** Reads a prompt of another format by converting it to a prompt file. */
function defineForeign(
  foreignFormat: ForeignFormat,
  { text, file }: { text: string; file: string },
  findings: Findings,
  { checksTests = false, readSibling = () => undefined }: ParseAnyOptions,
): PromptDefinition | undefined {
  const testFindings = checksTests ? findings : new Findings(file);
  const foreign = foreignFormat.read({ file, text, readSibling }, findings, testFindings);
  if (!foreign || findings.hasFaults) return undefined;

  if (Buffer.byteLength(foreign.prompt) > MAX_CONVERTED_BYTES) {
    findings.addFault(
      { line: 1, column: 1 },
      `the prompt is larger than ${BOUNDS.fileBytes / 1024} KiB`,
    );
    return undefined;
  }

  const conversionFindings = new Findings(file);
  const definition = parseDefinition(
    foreign.prompt,
    toValidSlug(foreign.name ?? file),
    conversionFindings,
    {},
  );

  // The findings' own positions are in the converted text.
  for (const { severity, message } of conversionFindings.list()) {
    if (severity === 'fault') findings.addFault(foreign.places.output, message);
  }

  const providerModel = definition.namesModel ? qualifyModel(definition.model) : undefined;
  return {
    ...definition,
    ...(providerModel !== undefined && { providerModel }),
    places: foreign.places,
  };
}
