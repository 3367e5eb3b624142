import { html, render } from 'lit';
import type { PageRequest } from '../protocol/webviewMessages.ts';
import { PageApi } from './api.ts';
import { Page } from './page.ts';
import { PageState, type StateHost } from './stores/pageState.ts';
import './view/app.ts';

interface Host extends StateHost {
  postMessage(request: PageRequest): void;
}

declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();
const api = new PageApi((request) => host.postMessage(request));
const saved = new PageState(host);
const page = new Page(api, saved, document.body.dataset['place'] === 'tab' ? 'tab' : 'sidebar');

// Only the window around the page talks to it; frames within it there are none.
addEventListener('message', (event) => api.receive(event.data));
addEventListener('pagehide', () => saved.flush());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') saved.flush();
  else void page.hello();
});

const root = document.getElementById('app') ?? document.body.appendChild(document.createElement('div'));
root.id = 'app';
render(html`<ab-app .page=${page}></ab-app>`, root);
void page.hello();
