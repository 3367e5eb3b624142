import { BusError } from '../../core/errors.ts';
import type { Caller } from '../../core/model.ts';
import { storyTextLength } from '../../protocol/storyMessages.ts';
import type { RpcHost } from './rpcHost.ts';
import { parse, type Params } from './rpcSchemas.ts';

type Request = (host: RpcHost, caller: Caller, params: unknown) => unknown;

const done = (): null => null;

/** What whoever owns this machine's account may ask for, as whoever they speak. */
export const ownerRequests: Readonly<Record<string, Request>> = {
  status: ({ admin }) => admin.status(),
  mint: ({ admin }, _caller, params) => {
    const { name, ...description } = parse('mint', params);
    return admin.mint(name, description);
  },
  revoke: async ({ admin }, _caller, params) => {
    const { name } = parse('named', params);
    return { name, revoked: await admin.revoke(name) };
  },
  remove: async ({ admin }, _caller, params) => {
    const { name } = parse('named', params);
    await admin.remove(name);
    return { name };
  },
  export: async ({ admin }, _caller, params) => {
    const { path } = parse('export', params);
    return { path, bytes: await admin.exportTo(path) };
  },
  stop: ({ admin }, _caller, params) => {
    admin.stop(parse('stop', params).reason);
    return null;
  },
  door: ({ admin }, _caller, params) => admin.setDoor(parse('door', params)),
  remote: ({ admin }, caller, params) => admin.addRemote(caller, parse('remote', params)),
  open: ({ admin }, _caller, params) => admin.setOpen(parse('open', params)),
  hook: ({ reach }, caller, params) => {
    const told: Params<'hook'> = parse('hook', params);
    return reach.hook(caller, told);
  },
  reach: ({ reach }, _caller, params) => reach.report(parse('reach', params).agent),
  pause: ({ reach }, _caller, params) => reach.pause(parse('pause', params).on).then(done),
};

/** What is the person's alone. */
export const personRequests: Readonly<Record<string, Request>> = {
  overview: ({ bus }, caller, params) => bus.story.overview(caller, parse('overview', params)),
  story: ({ bus }, caller, params) =>
    bus.story.page(caller, { ...parse('story', params), textLength: storyTextLength }),
  message: ({ bus }, caller, params) => bus.story.message(caller, parse('byId', params).id),
  unread: ({ bus }, caller, params) => bus.story.takeBack(caller, parse('byId', params).id).then(done),
  release: ({ reach }, caller, params) => {
    const { id, verdict } = parse('release', params);
    return reach.release(caller, id, verdict).then(done);
  },
  typing: ({ reach }, _caller, params) => {
    const { agent, on } = parse('typing', params);
    return reach.setTyping(agent, on).then(done);
  },
  consents: ({ reach }) => reach.listConsents(),
  held: ({ reach }) => reach.listHeld(),
  forget: ({ reach }, _caller, params) => reach.forget(parse('forget', params)).then(done),
};

export function forbidden(): BusError {
  return new BusError('forbidden', 'Only the owner of this machine’s bus may do that.', {
    next: 'Ask the person to do it with the agent-bus command.',
  });
}

export function notThePerson(): BusError {
  return new BusError('forbidden', 'Only the person may do that.', { next: 'Connect as the person: without a name.' });
}
