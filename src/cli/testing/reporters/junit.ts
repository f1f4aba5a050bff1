import type { Builder } from 'junit-report-builder';
import { visible } from '../../terminal/sanitise.ts';
import { type EntryResult, entryName } from '../result.ts';
import { detailsOf, markedLine, messagesOf } from './details.ts';

/** The results as JUnit XML: `failure` for what did not match or a run that failed, `error` for what could not be run. */
export async function junitReport(results: readonly EntryResult[]): Promise<string> {
  const builder = (await loadBuilder()).newBuilder();
  const suites = new Map<string, ReturnType<typeof builder.testSuite>>();
  const bodies: string[] = [];
  for (const result of results) {
    const { entry, seconds, status } = result;
    const file = xmlText(entry.file.name);
    const suite = suites.get(file) ?? builder.testSuite().name(file);
    suites.set(file, suite);
    const test = suite
      .testCase()
      .className(file)
      .name(xmlText(entryName(entry)))
      .file(file)
      .time(round(seconds));
    if (status !== 'passed') {
      const [message = status] = messagesOf(result);
      const details = (await detailsOf(result)).map(markedLine).join('\n');
      if (status === 'failed') {
        test.failure(xmlText(message), 'mismatch');
        bodies.push(escaped(xmlText(details)));
      } else {
        test.error(xmlText(message), 'fault', xmlText(details));
      }
      test.standardOutput(xmlText(details));
    }
  }
  return `${withBodies(builder.build(), bodies)}\n`;
}

/** The builder gives a failure no text of its own; they stand in the order of the results. */
function withBodies(xml: string, bodies: readonly string[]): string {
  const left = [...bodies];
  return xml.replaceAll(
    /<failure((?: [\w-]+="[^"]*")*)\s*\/>/gu,
    (_, attributes: string) => `<failure${attributes}>${left.shift() ?? ''}</failure>`,
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A CommonJS package: Node and the bundler differ in how deep its default lies. */
async function loadBuilder(): Promise<Builder> {
  const { default: loaded } = (await import('junit-report-builder')) as unknown as {
    default: Builder | { default: Builder };
  };
  return 'default' in loaded ? loaded.default : loaded;
}

/** Characters that XML can't hold, control characters among them, made visible. */
function xmlText(text: string): string {
  return visible(text).replace(/[\uFFFE\uFFFF]/gu, '?');
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
