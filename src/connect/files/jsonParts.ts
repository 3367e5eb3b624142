/** Our parts in a JSON file of somebody else: put in, taken out, and nothing else touched. */
import { isDeepStrictEqual } from 'node:util';
import { isOwnHook } from '../launch.ts';
import type { Json, Part } from '../products/product.ts';
import { JsonText, type Path } from './jsonText.ts';
import { Unreadable } from './unreadable.ts';

type Fields = Record<string, unknown>;

/** What may be of ours in a file, whether it is wanted now or not. */
export interface Owned {
  product: string;
  servers: readonly (readonly string[])[];
  settings: readonly Part[];
  switches: readonly Part[];
}

export function ownedBy(product: string, parts: readonly Part[]): Owned {
  const of = (wanted: Part['kind']): Part[] => parts.filter(({ kind }) => kind === wanted);
  return { product, settings: of('setting'), switches: of('switch'), servers: of('server').map(({ at }) => at) };
}

/**
 * @param original the file as it was before us, if that is known: what was in it stays, even if it is empty
 * @throws Unreadable
 */
export function withJsonParts(text: string, parts: readonly Part[], owned: Owned, original?: string): string {
  let json = new JsonText(text.trim() === '' ? '{}\n' : text);
  const hooks = parts.filter(({ kind }) => kind === 'hook');
  if (!isSettled(json, hooks, owned)) {
    const emptied = eventsOf(json, owned);
    json = withoutHooks(json, owned);
    for (const { at, value } of hooks) json = json.append(at, value);
    json = pruned(json, emptied, readable(original));
  }
  const wanted = (part: Part): boolean =>
    parts.some(({ kind, at }) => kind === 'switch' && isDeepStrictEqual(at, part.at));
  const unwanted = owned.switches.filter((part) => !wanted(part));
  json = switchedBack(json, unwanted, readable(original));
  for (const { kind, at, value } of parts) {
    const found = json.value(at);
    const isThere = {
      server: () => fits(found, value),
      setting: () => found !== undefined,
      switch: () => isDeepStrictEqual(found, value),
      hook: () => true,
      file: () => true,
    }[kind]();
    if (!isThere) json = json.set(at, value);
  }
  // A switch that is wanted now may not be known as ours yet.
  const switches = parts.filter(({ kind }) => kind === 'switch');
  return checked(text, json, { ...owned, switches: [...owned.switches, ...switches] });
}

/** @returns the text without anything of ours, or undefined if nothing is left of it */
export function withoutJsonParts(text: string, owned: Owned, original?: string): string | undefined {
  const before = readable(original);
  const whole = new JsonText(text);
  let json = pruned(withoutHooks(whole, owned), eventsOf(whole, owned), before);
  for (const at of owned.servers.toReversed()) {
    if (json.value(at) === undefined) continue;
    json = pruned(json.remove(at), [at.slice(0, -1)], before);
  }
  json = switchedBack(json, owned.switches, before);
  if (json.text === text) return text;
  for (const { at, value } of owned.settings.toReversed()) {
    const isAlone = Object.keys(json.value() as Fields).length === owned.settings.length;
    const isOurs = before ? before.value(at) === undefined : isAlone;
    if (isOurs && isDeepStrictEqual(json.value(at), value)) json = json.remove(at);
  }
  return !before && json.isEmpty([]) ? undefined : checked(text, json, owned);
}

/** To what they were, unless somebody has changed them since. */
function switchedBack(json: JsonText, switches: readonly Part[], original: JsonText | undefined): JsonText {
  let result = json;
  for (const { at, value, before } of switches.toReversed()) {
    if (!isDeepStrictEqual(result.value(at), value)) continue;
    if (before === undefined) result = pruned(result.remove(at), [at.slice(0, -1)], original);
    else result = result.set(at, before);
  }
  return result;
}

/** Whether a file has anything of ours in it. */
export function hasJsonParts(text: string, owned: Owned): boolean {
  const json = new JsonText(text);
  const isSwitched = owned.switches.some(({ at, value }) => isDeepStrictEqual(json.value(at), value));
  return isSwitched || owned.servers.some((at) => json.value(at) !== undefined) || ownHooks(json, owned).length > 0;
}

/** More keys than ours are the person's to add; another kind of server in that place is not ours. */
function fits(found: unknown, value: Json): boolean {
  if (!isFields(found) || !isFields(value) || 'url' in found || 'httpUrl' in found) return false;
  return Object.entries(value).every(([key, wanted]) => isDeepStrictEqual(found[key], wanted));
}

/** Every hook is there once, as it should be, and none that is not wanted. */
function isSettled(json: JsonText, wanted: readonly Part[], owned: Owned): boolean {
  const found = ownHooks(json, owned);
  return (
    found.length === wanted.length &&
    wanted.every(({ at, value }) =>
      found.some(({ path, hook }) => isDeepStrictEqual(path.slice(0, 2), [...at]) && fits(hook, innermost(value))),
    )
  );
}

function innermost(value: Json): Json {
  const inner = isFields(value) ? value['hooks'] : undefined;
  return Array.isArray(inner) ? (inner[0] ?? value) : value;
}

interface OwnHook {
  path: Path;
  hook: Fields;
}

/** In groups, as Claude Code has them, or straight in the list. */
function ownHooks(json: JsonText, { product }: Owned): OwnHook[] {
  const found: OwnHook[] = [];
  const look = (path: Path, value: unknown): void => {
    if (isOwn(value, product)) found.push({ path, hook: value });
  };
  for (const [path, list] of hooksOf(json.value())) {
    list.forEach((entry, i) => {
      const inner: unknown = isFields(entry) ? entry['hooks'] : undefined;
      if (Array.isArray(inner)) inner.forEach((hook, j) => look([...path, i, 'hooks', j], hook));
      else look([...path, i], entry);
    });
  }
  return found;
}

function isOwn(value: unknown, product: string): value is Fields {
  if (!isFields(value)) return false;
  return [value['command'], value['bash'], value['powershell']].some((line) => isOwnHook(line, product));
}

/** The lists of hooks in a file, by event. */
function hooksOf(root: unknown): [path: [string, string], list: unknown[]][] {
  const hooks = isFields(root) ? root['hooks'] : undefined;
  if (!isFields(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, list]) => (Array.isArray(list) ? [[['hooks', event], list]] : []));
}

/** The lists that have hooks of ours, in their order. */
function eventsOf(json: JsonText, owned: Owned): Path[] {
  const events = ownHooks(json, owned).map(({ path }) => path.slice(0, 2));
  return events.filter((path, i) => !isDeepStrictEqual(path, events[i - 1]));
}

/** From the last to the first, so that the places of those before stay what they are. */
function withoutHooks(json: JsonText, owned: Owned): JsonText {
  let result = json;
  for (const { path } of ownHooks(json, owned).reverse()) {
    const group = path.slice(0, -2);
    const isAlone = path.length > 3 && (result.value(path.slice(0, -1)) as unknown[]).length === 1;
    result = result.remove(isAlone ? group : path);
  }
  return result;
}

/** Lists and objects that are empty now, and were not there before us, go as well; from the last to the first. */
function pruned(json: JsonText, paths: readonly Path[], before: JsonText | undefined): JsonText {
  let result = json;
  for (const path of paths.toReversed()) {
    for (let depth = path.length; depth > 0; depth--) {
      const at = path.slice(0, depth);
      if (!result.isEmpty(at) || before?.value(at) !== undefined) break;
      result = result.remove(at);
    }
  }
  return result;
}

/** The rest of the file says what it said before; otherwise it is not touched. */
function checked(text: string, json: JsonText, owned: Owned): string {
  const before = text.trim() === '' ? {} : new JsonText(text).value();
  if (!isDeepStrictEqual(rest(before, owned), rest(json.value(), owned))) {
    throw new Unreadable('it can’t be changed without touching something else');
  }
  return json.text;
}

/** What is in a file beside ours and beside what may be empty because of us. */
function rest(root: unknown, { servers, settings, switches, product }: Owned): unknown {
  const copy = structuredClone(root) as Fields;
  const { hooks } = copy;
  if (isFields(hooks)) {
    for (const [[, event], list] of hooksOf(copy)) {
      const others = list.flatMap((entry) => withoutOwn(entry, product));
      if (others.length > 0) hooks[event] = others;
      else delete hooks[event];
    }
    if (Object.keys(hooks).length === 0) delete copy['hooks'];
  }
  for (const [key = '', name = ''] of servers) {
    const list = copy[key];
    if (!isFields(list)) continue;
    delete list[name];
    if (Object.keys(list).length === 0) delete copy[key];
  }
  for (const { at } of settings) delete copy[at[0] ?? ''];
  for (const { at } of switches) forget(copy, at);
  return copy;
}

/** Without the key, and without what is empty then. */
function forget(fields: Fields, [key = '', ...rest]: readonly string[]): void {
  const inner = fields[key];
  if (rest.length > 0 && isFields(inner)) forget(inner, rest);
  if (rest.length === 0 || (isFields(inner) && Object.keys(inner).length === 0)) delete fields[key];
}

/** An entry of a list of hooks, or what others have of it. */
function withoutOwn(entry: unknown, product: string): unknown[] {
  if (!isFields(entry)) return [entry];
  const inner = entry['hooks'];
  if (!Array.isArray(inner)) return isOwn(entry, product) ? [] : [entry];
  const others = inner.filter((hook) => !isOwn(hook, product));
  return others.length === 0 && inner.length > 0 ? [] : [{ ...entry, hooks: others }];
}

function readable(text: string | undefined): JsonText | undefined {
  try {
    return text === undefined ? undefined : new JsonText(text);
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
