// The filter of a report, inlined into its single page, which makes no requests.

const rows = [...document.querySelectorAll<HTMLDetailsElement>('main > details')];
const nav = element('nav', HTMLElement);
const boxes = [...nav.querySelectorAll<HTMLInputElement>('[type=checkbox]')];
const words = element('nav [type=search]', HTMLInputElement);
const shown = element('nav output', HTMLOutputElement);

nav.addEventListener('input', showMatchingRows);
showMatchingRows();

function showMatchingRows(): void {
  const states = new Set(boxes.filter(box => box.checked).map(box => box.value));
  const needles = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !matches(row, states, needles);
  shown.value = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
}

function matches(row: HTMLElement, states: ReadonlySet<string>, needles: readonly string[]): boolean {
  const text = row.textContent.toLowerCase();
  return states.has(row.dataset['state'] ?? '') && needles.every(word => text.includes(word));
}

function element<T extends HTMLElement>(selector: string, type: new () => T): T {
  const found = document.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`the page has no ${selector}`);
  return found;
}
