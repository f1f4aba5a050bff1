const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
};

/** Returns the text of the first element with this name; undefined if there is none. */
export function findElementText(xml: string, name: string): string | undefined {
  return listElementTexts(xml, name)[0];
}

export function listElementTexts(xml: string, name: string): string[] {
  const pieces = xml.split(`<${name}>`).slice(1);
  return pieces.map(piece => unescapeXml(piece.split('<', 1)[0] ?? ''));
}

function unescapeXml(text: string): string {
  return text.replaceAll(
    /&(lt|gt|quot|apos|amp);/g,
    (entity, name: string) => ENTITIES[name] ?? entity,
  );
}
