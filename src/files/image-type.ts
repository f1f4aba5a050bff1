const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const SNIFFED_BYTES = 4100;

/** The media type of a picture by its content; undefined for anything else. SVG is a program, not a picture. */
export async function imageType(bytes: Buffer): Promise<string | undefined> {
  // Known by its first bytes, so that one cut short is still called what it is.
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'image/png';
  const { fileTypeFromBuffer } = await import('file-type');
  // What a file is made of may lead on and on; its beginning is enough.
  const type = await fileTypeFromBuffer(bytes.subarray(0, SNIFFED_BYTES));
  return type?.mime.startsWith('image/') && type.mime !== 'image/svg+xml' ? type.mime : undefined;
}
