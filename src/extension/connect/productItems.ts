/** The lists from which a person chooses a product, and what becomes of it. */
import { basename, relative } from 'node:path';
import * as vscode from 'vscode';
import { connectionState, type ConnectionState } from '../../connect/connectionState.ts';
import { shortPath, type Voice } from '../../connect/connectReport.ts';
import { areOn } from '../../connect/files/settingIn.ts';
import type { Place, Product, Scope } from '../../connect/products/product.ts';
import { connectionWords, lackingFiles, stateWords, type ProductLine } from '../../connect/survey.ts';
import { plainLine } from '../window/plainLine.ts';

export interface ProductItem extends vscode.QuickPickItem {
  product?: Product;
}

const icons: Record<ConnectionState['state'], string> = {
  connected: '$(pass-filled)',
  'without hooks': '$(pass)',
  partly: '$(warning)',
  no: '$(circle-large-outline)',
  unreadable: '$(error)',
};

const notFound = 'not found on this machine';

export function voiceAt(place: Place): Voice {
  return { place, clean: (text, most = 200) => plainLine(text, most) };
}

/** What is not on this machine comes last. */
export function productItems(lines: readonly ProductLine[], place: Place): ProductItem[] {
  const there = lines.filter(({ found }) => found.installed);
  const absent = lines.filter(({ found }) => !found.installed);
  const item = (line: ProductLine): ProductItem => productItem(line, voiceAt(place));
  return [...there.map(item), ...(absent.length > 0 ? [separator('')] : []), ...absent.map(item)];
}

function productItem(line: ProductLine, voice: Voice): ProductItem {
  const { product, found, user, project } = line;
  const own = user.state === 'no' ? project.state : user.state;
  const lacking = lackingFiles(line, voice);
  const isUnreadable = [user, project].some(({ state }) => state === 'unreadable');
  const why = lacking.length > 0 ? [isUnreadable ? lacking.join(', ') : `to be written: ${lacking.join(', ')}`] : [];
  const words = found.installed ? [connectionWords(line)] : [own === 'no' ? '' : connectionWords(line), notFound];
  return {
    product,
    label: `${icons[isUnreadable ? 'unreadable' : own]} ${product.title}`,
    description: words.filter((part) => part !== '').join('; '),
    detail: [...why, ...knownBy(line, voice)].join(' · '),
  };
}

function knownBy({ product, found: { because } }: ProductLine, voice: Voice): string[] {
  if (product.name === 'vscode') return ['by this extension'];
  return because === undefined ? [] : [`found: ${shortPath(because, voice)}`];
}

/** One thing that can be done with a product, at one place. */
export interface Deed {
  what: 'connect' | 'disconnect';
  product: Product;
  place: Place;
  scope: Scope;
  hooks: boolean;
  /** Whether the person is asked to have switched on what the product calls experimental. */
  asks?: boolean;
}

export interface DeedItem extends vscode.QuickPickItem {
  deed?: Deed;
}

/** @param projects the places of this window's folders */
export function deedItems(product: Product, place: Place, projects: readonly Place[]): DeedItem[] {
  const own = deedsAt(product, place, 'user');
  return [
    ...(own.length > 0 ? [separator('your own settings'), ...own] : []),
    ...projects.flatMap((project) => {
      const here = deedsAt(product, project, 'project');
      return here.length > 0 ? [separator(`settings of ${projectName(project)}`), ...here] : [];
    }),
  ];
}

function deedsAt(product: Product, place: Place, scope: Scope): DeedItem[] {
  const { state, files } = connectionState({ product, place, scope });
  const voice = voiceAt(place);
  const shown = (path: string): string => (scope === 'user' ? path : relative(place.project, path));
  const detail = files.map((path) => shortPath(shown(path), voice)).join(', ');
  const where = scope === 'user' ? 'for All Projects' : `for ${projectName(place)} Only`;
  const deed = (what: Deed['what'], hooks = true): Deed => ({ what, product, place, scope, hooks });
  const canExperiment = product.experimental !== undefined && !areOn(product.files(place, scope, true));
  const asking: Deed = { ...deed('connect'), asks: canExperiment };
  const tools = (label: string): DeedItem => ({
    label: `$(tools) ${label}`,
    description: 'it hears only when it calls a tool of the bus',
    deed: deed('connect', false),
  });
  const whole = (label: string): DeedItem => ({
    label,
    description: 'tools and hooks: it hears by itself',
    detail,
    deed: asking,
  });
  const test = (hooks: boolean): DeedItem => ({
    label: '$(beaker) Test',
    description: `starts the server as ${product.title} does, and counts its tools`,
    detail,
    deed: deed('connect', hooks),
  });
  const disconnect: DeedItem = {
    label: '$(debug-disconnect) Disconnect',
    description: 'takes out exactly what is of Agent Bus',
    deed: deed('disconnect'),
  };
  const wake: DeedItem = {
    label: '$(bell) Let It Be Woken While Idle…',
    description: `${product.title} calls that experimental`,
    deed: asking,
  };
  // The extension is the way into this editor: with both, every tool would be there twice.
  if (product.name === 'vscode') return state === 'no' ? [] : [{ ...disconnect, detail }];
  switch (state) {
    case 'no':
      return [whole(`$(plug) Connect ${where}`), tools('Tools Only, No Hooks')];
    case 'without hooks':
      return [test(false), whole('$(plug) Add Hooks'), disconnect];
    case 'partly':
      return [whole('$(wrench) Repair'), tools('Repair, Tools Only, No Hooks'), disconnect];
    case 'connected':
      return [test(true), ...(canExperiment ? [wake] : []), tools('Take Out the Hooks'), disconnect];
    case 'unreadable':
      return [
        { label: '$(error) Show What Is Wrong', description: stateWords.unreadable, detail, deed: deed('connect') },
      ];
  }
}

function projectName({ project }: Place): string {
  return plainLine(basename(project), 60);
}

function separator(label: string): vscode.QuickPickItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
