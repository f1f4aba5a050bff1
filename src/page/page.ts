import { UnauthorizedError } from '../client/errors.ts';
import { el, labelled, messageOf } from './dom.ts';
import type { Place } from './service.ts';
import { BrowserService } from './service.ts';
import { showPrompt, showPrompts } from './views/prompts.ts';
import { showRun } from './views/run.ts';
import { showRuns } from './views/runs.ts';
import { showUsage } from './views/usage.ts';

/** Where the key is kept: it goes when the tab is closed. */
const KEY = 'promptrun.key';

const VIEWS: Readonly<
  Record<string, { readonly title: string; readonly show: (place: Place) => Promise<void> }>
> = {
  runs: { title: 'Runs', show: place => (place.path.length > 0 ? showRun(place) : showRuns(place)) },
  prompts: {
    title: 'Prompts',
    show: place => (place.path.length > 0 ? showPrompt(place) : showPrompts(place)),
  },
  usage: { title: 'Usage', show: showUsage },
};

let left = new AbortController();
let service: BrowserService | undefined;

/** Shows what the address names, or asks for a key. */
function show(): void {
  left.abort();
  left = new AbortController();
  const key = sessionStorage.getItem(KEY);
  if (key === null) return showSignIn();
  service ??= new BrowserService(key);
  const [name = '', ...rest] = location.hash.replace(/^#\/?/u, '').split('/').map(decoded);
  const isView = Object.hasOwn(VIEWS, name);
  const view = VIEWS[isView ? name : 'runs'];
  const path = isView ? rest : [];
  // An address that names nothing leads home.
  if (!isView) history.replaceState(null, '', '#/runs');
  if (view === undefined) return;
  const heading = el('h1', { tabindex: -1 });
  const content = el('div', {}, el('p', { class: 'quiet', role: 'status' }, 'Loading…'));
  const main = el('main', {}, heading, content);
  document.body.replaceChildren(header(view.title), main);
  heading.focus();
  const { signal } = left;
  const guard: Place['guard'] = (work, at = content) => {
    work.catch((error: unknown) => {
      if (signal.aborted) return;
      const isRefused = error instanceof UnauthorizedError && error.httpStatus === 401;
      if (isRefused) signOut('This key is not accepted any more.');
      else at.replaceChildren(el('p', { class: 'fault', role: 'alert' }, messageOf(error)));
    });
  };
  const entitle = (title: string): void => {
    heading.textContent = title;
    document.title = `${title} · promptrun`;
  };
  entitle(view.title);
  guard(view.show({ service, main: content, signal, path, guard, entitle }));
}

function header(current: string): HTMLElement {
  const links = Object.entries(VIEWS).map(([name, { title }]) =>
    el('a', { href: `#/${name}`, 'aria-current': title === current && 'page' }, title),
  );
  return el(
    'header',
    {},
    el(
      'div',
      { class: 'inner' },
      el('strong', {}, 'promptrun'),
      el('nav', { 'aria-label': 'Views' }, ...links),
      el('button', { type: 'button', click: () => signOut() }, 'Sign out'),
    ),
  );
}

function showSignIn(message = ''): void {
  const key = el('input', {
    type: 'password',
    name: 'key',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const fault = el('p', { class: 'fault', role: 'alert' }, message);
  const button = el('button', { class: 'main' }, 'Sign in');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    button.disabled = true;
    fault.textContent = '';
    try {
      const tried = new BrowserService(key.value.trim());
      await tried.account.get({ signal: left.signal });
      sessionStorage.setItem(KEY, key.value.trim());
      service = tried;
      show();
    } catch (error) {
      fault.textContent = messageOf(error);
      button.disabled = false;
      key.focus();
    }
  };
  const hint = 'It stays in this tab and goes to this service only.';
  document.title = 'Sign in · promptrun';
  document.body.replaceChildren(
    el(
      'main',
      {},
      el('h1', {}, 'promptrun'),
      el('form', { submit: event => void submit(event) }, labelled('API key', key, hint), fault, button),
    ),
  );
  key.focus();
}

/** Forgets the key and everything that was shown. */
function signOut(message = ''): void {
  sessionStorage.removeItem(KEY);
  service = undefined;
  left.abort();
  left = new AbortController();
  history.replaceState(null, '', '#/');
  showSignIn(message);
}

/** A part of the address, as it is if it isn't encoded: anybody can write a link here. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener('hashchange', show);
show();
