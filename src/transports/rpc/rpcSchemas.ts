/** What each request of our own clients has to look like; anything else is refused before it is looked at. */
import { z } from 'zod';
import { BusError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { routes } from '../../core/model.ts';
import { doorNames } from '../../protocol/doorMessages.ts';
import { rungs } from '../../protocol/reachMessages.ts';

const name = z.string().max(limits.nameLength);
const id = z.string().max(20);
const windowId = z.string().min(1).max(200);
const chatId = z.string().min(1).max(limits.chatIdLength);
const pids = z.array(z.int().positive()).max(1_000).optional();

export const schemas = {
  hello: z.object({ protocol: z.number(), nonce: z.string().min(16).max(100) }),
  login: z.object({
    proof: z.string().max(200).optional(),
    token: z.string().max(600).optional(),
    as: name.optional(),
    attach: z
      .object({
        workspace: z.string().max(4_096),
        product: z.string().max(100),
        name: name.optional(),
        chat: chatId.optional(),
        window: windowId.optional(),
        process: z.int().positive().optional(),
      })
      .optional(),
    via: z.enum(['rpc', 'cli', 'stdio']),
    passing: z.boolean().optional(),
  }),
  call: z.object({ tool: z.string().max(100), args: z.unknown(), for: z.enum(['model', 'program']) }),
  subscribe: z.object({ cursor: z.string().max(100).optional() }),
  shown: z.object({ ids: z.array(id).max(1_000), route: z.enum(routes).default('client') }),
  presence: z.object({ state: z.enum(['working', 'idle', 'waiting']) }),
  mint: z.object({
    name: z.string().max(200),
    about: z.string().max(limits.aboutLength).optional(),
    skills: z.array(z.string().min(1).max(limits.skillLength)).max(limits.skills).optional(),
  }),
  named: z.object({ name: z.string().max(200) }),
  export: z.object({ path: z.string().min(1).max(4_096) }),
  stop: z.object({ reason: z.enum(['stop', 'upgrade']) }),

  overview: z.object({
    filter: z.enum(['all', 'unread', 'waiting']),
    cursor: id.optional(),
    limit: z.int().min(1).max(500),
  }),
  story: z
    .object({
      conversation: id,
      before: id.optional(),
      after: id.optional(),
      around: id.optional(),
      limit: z.int().min(1).max(200),
    })
    .refine((page) => [page.before, page.after, page.around].filter((place) => place !== undefined).length <= 1, {
      error: 'at most one of before, after and around',
    }),
  byId: z.object({ id }),

  carry: z.object({
    window: windowId,
    rungs: z.array(z.enum(rungs)).max(10),
    session: z
      .object({
        product: z.string().min(1).max(100),
        workspace: z.string().max(4_096),
        chat: chatId.optional(),
        agent: name.optional(),
        route: z.string().min(1).max(100),
        says: z.literal('line').optional(),
        pids,
      })
      .optional(),
  }),
  terminals: z.object({ pids: pids.unwrap() }),
  typing: z.object({ agent: name, on: z.boolean() }),
  observe: z.object({ chat: chatId, state: z.enum(['idle', 'approval', 'working', 'gone']), at: z.number().min(0) }),
  hook: z.object({
    event: z.enum(['session-start', 'prompt', 'before-tool', 'after-tool', 'stop', 'session-end']),
    chat: chatId,
    tool: z.string().max(1_000).optional(),
    toolUse: z.string().max(1_000).optional(),
    // A person may paste anything; only the token of a wake is looked for in it.
    prompt: z
      .string()
      .max(8 * limits.textBytes)
      .optional(),
    again: z.boolean().optional(),
    takes: z.boolean().optional(),
  }),
  reach: z.object({ agent: name.optional() }),
  pause: z.object({ on: z.boolean() }),
  release: z.object({ id, verdict: z.enum(['once', 'always', 'never']) }),
  forget: z.object({ from: z.string().max(4_096), to: z.string().max(4_096) }),

  door: z.object({
    door: z.enum(doorNames),
    on: z.boolean(),
    port: z.int().min(0).max(65_535).optional(),
    to: z
      .string()
      .max(limits.nameLength + 1)
      .optional(),
    bind: z.string().max(100).optional(),
    peers: z.array(z.string().max(100)).max(1_000).optional(),
  }),
  remote: z.object({
    url: z.string().min(1).max(limits.addressLength),
    name: name.optional(),
    secret: z
      .object({ header: z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/), value: z.string().min(1).max(8_192) })
      .optional(),
  }),
  open: z.object({ name, on: z.boolean() }),
};

export type Params<Name extends keyof typeof schemas> = z.output<(typeof schemas)[Name]>;

export function parse<Name extends keyof typeof schemas>(method: Name, params: unknown): Params<Name> {
  const parsed = schemas[method].safeParse(params ?? {});
  if (parsed.success) return parsed.data as Params<Name>;
  throw new BusError(
    'invalid-input',
    `The parameters do not fit: ${parsed.error.issues[0]?.message ?? 'unknown reason'}.`,
    {
      next: 'Check that client and hub have the same version.',
    },
  );
}
