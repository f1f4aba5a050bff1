/**
 * Returns true for a device name of Windows, such as `CON` or `aux.csv`. Node can make such a file
 * or folder, but Explorer and most programs can neither open nor delete it.
 */
export function isDeviceName(name: string): boolean {
  return /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])\s*(\.|$)/iu.test(name);
}
