/** A child of an element. Text is never parsed as markup. */
export type Child = Node | string | number | undefined | false;

type Properties = Readonly<
  Record<string, string | number | boolean | ((event: Event) => void) | undefined>
>;

/**
 * Creates an element. A function listens to the event of its name; `true` sets an empty attribute.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') {
      element.addEventListener(name, value);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }

  element.append(...children.filter(child => child !== undefined && child !== false).map(toNode));
  return element;
}

function toNode(child: Child): Node | string {
  return child instanceof Node ? child : String(child);
}

export function labelControl(name: string, control: HTMLElement, hint?: string): HTMLElement {
  return el(
    'label',
    { class: 'field' },
    el('span', {}, name),
    hint !== undefined && el('span', { class: 'hint' }, hint),
    control,
  );
}

/** Creates a `select` with these options. */
export function createSelectBox(
  options: readonly (readonly [value: string, text: string])[],
  chosenValue: string,
  properties: Properties = {},
): HTMLSelectElement {
  return el(
    'select',
    properties,
    ...options.map(([value, text]) =>
      el('option', { value, selected: value === chosenValue }, text),
    ),
  );
}

/** Returns options whose texts are their values. */
export function toPlainOptions(
  values: readonly string[],
): (readonly [value: string, text: string])[] {
  return values.map(value => [value, value]);
}

/** Creates a form of controls that filter a list. */
export function createFilterForm(...controls: readonly HTMLElement[]): HTMLElement {
  return el('form', { class: 'filters', submit: event => event.preventDefault() }, ...controls);
}

export interface PageColumn {
  readonly title: string;
  /** `number` aligns at the end; `wide` is left out on a phone. */
  readonly class?: string;
}

export function createScrollingTable(
  caption: string,
  columns: readonly PageColumn[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const head = columns.map(({ title, class: name }) =>
    el('th', { scope: 'col', class: name }, title),
  );
  const body = rows.map(row =>
    el('tr', {}, ...row.map((cell, index) => el('td', { class: columns[index]?.class }, cell))),
  );
  return el(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: 0 },
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)),
  );
}

/** Creates a list of names and values, without empty values. */
export function createFactList(
  entries: readonly (readonly [name: string, value: Child])[],
): HTMLElement {
  const shownEntries = entries.filter(([, value]) => value !== undefined && value !== '');
  return el(
    'dl',
    {},
    ...shownEntries.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
  );
}

/** Formats a time for the user's locale, with the exact time as a tooltip. */
export function createTimeElement(iso: string): HTMLElement {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  const shownTime = isToday
    ? time.toLocaleTimeString([], { timeStyle: 'short' })
    : time.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  return el('time', { datetime: iso, title: iso }, shownTime);
}
