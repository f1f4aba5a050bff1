import { UnauthorizedError } from '../client/errors.ts';
import { getErrorMessage } from '../utils/error-utils.ts';
import { BrowserService } from './browser-service.ts';
import { el, labelControl } from './dom.ts';
import type { ViewContext } from './view-context.ts';
import { showPrompt, showPrompts } from './views/prompts.ts';
import { showRun } from './views/run.ts';
import { showRuns } from './views/runs.ts';
import { showUsage } from './views/usage.ts';

/** The entry of session storage for the key, which lasts until the tab is closed. */
const STORED_KEY = 'promptrun.key';

const VIEWS: Readonly<
  Record<string, { readonly title: string; readonly show: (context: ViewContext) => Promise<void> }>
> = {
  runs: {
    title: 'Runs',
    show: context => (context.path.length > 0 ? showRun(context) : showRuns(context)),
  },
  prompts: {
    title: 'Prompts',
    show: context => (context.path.length > 0 ? showPrompt(context) : showPrompts(context)),
  },
  usage: { title: 'Usage', show: showUsage },
};

/** Aborted when the view is left. */
let viewLifetime = new AbortController();
let service: BrowserService | undefined;

/** Shows the view of the address, or asks for a key. */
function showView(): void {
  viewLifetime.abort();
  viewLifetime = new AbortController();
  const key = sessionStorage.getItem(STORED_KEY);
  if (key === null) return showSignIn();

  service ??= new BrowserService(key);
  const { name, path } = parseLocation();
  const view = VIEWS[name];
  if (view === undefined) return;

  const heading = el('h1', { tabindex: -1 });
  const content = el('div', {}, el('p', { class: 'quiet', role: 'status' }, 'Loading…'));
  document.body.replaceChildren(renderHeader(view.title), el('main', {}, heading, content));
  heading.focus();

  const setTitle = (title: string): void => {
    heading.textContent = title;
    document.title = `${title} · promptrun`;
  };

  setTitle(view.title);
  const { signal } = viewLifetime;
  const handleErrors: ViewContext['handleErrors'] = (work, place = content) => {
    work.catch((error: unknown) => {
      if (!signal.aborted) showFault(error, place);
    });
  };

  handleErrors(
    view.show({ service, main: content, signal, path, handleErrors: handleErrors, setTitle }),
  );
}

/** Returns the view in the address and the parts after it; the runs for an unknown address. */
function parseLocation(): Pick<ViewContext, 'path'> & { readonly name: string } {
  const [name = '', ...path] = location.hash.replace(/^#\/?/u, '').split('/').map(decodePart);
  if (Object.hasOwn(VIEWS, name)) return { name, path };
  history.replaceState(null, '', '#/runs');
  return { name: 'runs', path: [] };
}

/** Shows an error in place of what failed. Signs out if the key is refused. */
function showFault(error: unknown, place: HTMLElement): void {
  const isKeyRefused = error instanceof UnauthorizedError && error.httpStatus === 401;
  if (isKeyRefused) {
    signOut('The service no longer accepts this key.');
  } else {
    place.replaceChildren(el('p', { class: 'fault', role: 'alert' }, getErrorMessage(error)));
  }
}

function renderHeader(current: string): HTMLElement {
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
  const keyField = el('input', {
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
      const key = keyField.value.trim();
      const newService = new BrowserService(key);
      await newService.account.get({ signal: viewLifetime.signal });
      sessionStorage.setItem(STORED_KEY, key);
      service = newService;
      showView();
    } catch (error) {
      fault.textContent = getErrorMessage(error);
      button.disabled = false;
      keyField.focus();
    }
  };

  const hint = 'It stays in this tab and goes to this service only.';
  document.title = 'Sign in · promptrun';
  document.body.replaceChildren(
    el(
      'main',
      {},
      el('h1', {}, 'promptrun'),
      el(
        'form',
        { submit: event => void submit(event) },
        labelControl('API key', keyField, hint),
        fault,
        button,
      ),
    ),
  );
  keyField.focus();
}

/** Forgets the key and everything on the page. */
function signOut(message = ''): void {
  sessionStorage.removeItem(STORED_KEY);
  service = undefined;
  viewLifetime.abort();
  viewLifetime = new AbortController();
  history.replaceState(null, '', '#/');
  showSignIn(message);
}

/**
 * Decodes a part of the address; returns it unchanged if it is badly encoded, because anybody can
 * write a link here.
 */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener('hashchange', showView);
showView();
