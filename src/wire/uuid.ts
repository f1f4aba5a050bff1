const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a prompt, prompt version or run identifier (interface §2). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
