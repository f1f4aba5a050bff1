/** Control characters, direction overrides and what XML can't hold. */
const UNDRAWABLE = /[^\P{Cc}\n]|\p{Cs}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** A text with nothing in it that could not be drawn. */
export function drawable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNDRAWABLE, '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** A text as it is written in XML. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? character);
}
