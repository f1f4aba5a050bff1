// The filter of a report, inlined into its single page, which makes no requests.
import { createWordMatcher } from '../../utils/word-matcher.ts';

const rows = [...document.querySelectorAll<HTMLDetailsElement>('main > details')];
const nav = requireElement('nav', HTMLElement);
const stateBoxes = [...nav.querySelectorAll<HTMLInputElement>('[type=checkbox]')];
const searchField = requireElement('nav [type=search]', HTMLInputElement);
const countOutput = requireElement('nav output', HTMLOutputElement);

nav.addEventListener('input', showMatchingRows);
showMatchingRows();

function showMatchingRows(): void {
  const states = new Set(stateBoxes.filter(box => box.checked).map(box => box.value));
  const hasWords = createWordMatcher(searchField.value);
  for (const row of rows) {
    row.hidden = !states.has(row.dataset['state'] ?? '') || !hasWords(row.textContent);
  }
  countOutput.value = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
}

function requireElement<T extends HTMLElement>(selector: string, type: new () => T): T {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`);
  return element;
}
