import { me, theBus, World, type Talk } from './world.ts';

/** A morning with five agents: a decision to make, something held, a channel, a talk that the person only watches. */
export function morning(): World {
  const world = new World();
  world.agent(me, {
    kind: 'person',
    presence: 'working',
    about: 'The person at this machine',
    reach: ['open client', 'inbox'],
  });
  world.agent('shop-api-copilot', {
    presence: 'working',
    doing: 'npm test',
    about: 'Owns the orders API: Fastify, Postgres, its tests and its OpenAPI file.',
    workspace: 'shop-api',
    product: 'GitHub Copilot',
  });
  world.agent('shop-web-claude', {
    presence: 'idle',
    about: 'The web shop, React',
    workspace: 'shop-web',
    product: 'Claude Code',
  });
  world.agent('infra-codex', { presence: 'waiting', doing: 'run_in_terminal', workspace: 'infra', product: 'Codex' });
  world.agent('docs-gemini', { presence: 'idle', workspace: 'docs', product: 'Gemini CLI' });
  world.agent('release-bot', { presence: 'offline', reach: ['inbox'], about: 'Cuts releases' });
  apiTalk(world);
  channelTalk(world);
  const watched = world.talk('direct', ['shop-web-claude', 'docs-gemini'], 'shop-web-claude, docs-gemini');
  world.say(watched, 'docs-gemini', 'The page on webhooks still shows the v1 payload. Is v2 out?', 190);
  world.say(watched, 'shop-web-claude', 'v2 ships tomorrow, keep v1 until then.', 185, { kind: 'reply' });
  const group = world.talk('group', [me, 'shop-api-copilot', 'infra-codex']);
  world.say(group, me, 'Who can look at the failing nightly run?', 26 * 60);
  world.say(group, 'infra-codex', 'On it. The runner had **no disk left**; I am cleaning the cache.', 26 * 60 - 8);
  const decision = world.talk('direct', [me, 'infra-codex']);
  world.say(decision, 'infra-codex', 'The migration needs a lock on `orders` for about 40 s. When may I run it?', 12, {
    kind: 'request',
    request: 'pending',
    options: ['Now', 'Tonight at 02:00', 'Not at all'],
    unread: true,
    fates: [{ agent: me, step: 'offered', at: new Date(world.now - 12 * 60_000).toISOString(), route: 'notification' }],
  });
  return world.inOrder();
}

function apiTalk(world: World): Talk {
  const talk = world.talk('group', [me, 'shop-api-copilot', 'shop-web-claude']);
  const at = (ago: number) => new Date(world.now - ago * 60_000).toISOString();
  world.say(talk, me, 'Please agree on the shape of `GET /orders` before you both go on.', 25 * 60, {});
  const asked = world.say(
    talk,
    'shop-web-claude',
    'What does `GET /orders` return for an order that was **partly refunded**?',
    64,
    {
      kind: 'request',
      to: ['shop-api-copilot'],
      request: 'answered',
      ended_at: at(63),
      fates: [{ agent: 'shop-api-copilot', step: 'replied', at: at(63), route: 'turn' }],
    },
  );
  const answer = world.say(
    talk,
    'shop-api-copilot',
    [
      'An order with a `refunds` list; `total` stays what was paid:',
      '',
      '```json',
      '{ "id": "o_812", "total": 4900, "refunds": [{ "amount": 1200, "reason": "damaged in transport, customer kept the goods" }] }',
      '```',
      '',
      '| field | type | since |',
      '|---|---|---:|',
      '| `total` | cents | v1 |',
      '| `refunds` | list | v2 |',
      '',
      'Details in [the OpenAPI file](api/openapi.yaml) and <https://example.com/orders>.',
    ].join('\n'),
    63,
    { kind: 'reply', reply_to: asked.id, to: ['shop-web-claude'], files: ['/projects/shop-api/api/openapi.yaml'] },
  );
  asked.answer = answer.id;
  world.say(talk, 'shop-web-claude', 'Thanks. I show the refunds below the total then.', 62, {
    to: ['shop-api-copilot'],
  });
  world.say(talk, 'shop-web-claude', 'Done in `OrderRow.tsx`.', 60, {
    to: ['shop-api-copilot'],
    fates: [{ agent: 'shop-api-copilot', step: 'offered', at: at(60), route: 'hook' }],
  });
  world.say(talk, me, 'Good. Please also cover the empty list.', 30, {
    fates: [
      { agent: 'shop-api-copilot', step: 'acked', outcome: 'done', at: at(29) },
      { agent: 'shop-web-claude', step: 'acked', outcome: 'done', at: at(28) },
    ],
  });
  world.say(talk, 'shop-web-claude', 'Can you freeze the schema until Friday? I would build the export on it.', 9, {
    kind: 'request',
    request: 'pending',
    to: ['shop-api-copilot'],
    priority: 'urgent',
    fates: [
      {
        agent: 'shop-api-copilot',
        step: 'held',
        at: at(9),
        note: 'agents of “shop-web” have not been allowed to wake agents of “shop-api” yet',
      },
    ],
  });
  world.say(talk, 'shop-api-copilot', 'The export job is ready for review.', 4, { unread: true });
  return talk;
}

function channelTalk(world: World): Talk {
  const talk = world.talk(
    'channel',
    [me, 'shop-api-copilot', 'shop-web-claude', 'infra-codex', 'release-bot'],
    '#release',
  );
  world.say(talk, 'release-bot', 'Main is **frozen** for 2.4. Only fixes for blockers, please.', 140);
  world.say(talk, 'infra-codex', 'Understood.', 138);
  return talk;
}

/** Ten thousand conversations, as after a busy year. */
export function tenThousand(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  for (let i = 0; i < 40; i++) {
    const presence = (['idle', 'working', 'offline', 'waiting'] as const)[i % 4] ?? 'idle';
    world.agent(`service-${i}-copilot`, { presence, about: `Service number ${i}` });
  }
  for (let i = 0; i < 10_000; i++) {
    const talk = world.talk('direct', [me, `service-${i % 40}-copilot`], `topic-${10_000 - i}`);
    world.say(
      talk,
      `service-${i % 40}-copilot`,
      `Message of topic ${10_000 - i}: the build is green again`,
      10_000 - i,
      {
        ...(i % 100 === 0 && { unread: true as const }),
      },
    );
  }
  return world;
}

/** A long talk of two, for paging, scrolling and the picture. */
export function longTalk(count: number): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  world.agent('builder', { presence: 'working' });
  const talk = world.talk('direct', [me, 'builder']);
  for (let i = 0; i < count; i++) {
    world.say(talk, i % 3 === 0 ? me : 'builder', `Number ${i}: the quick brown fox\n\n- one\n- two`, (count - i) * 3);
  }
  return world;
}

/** Agents that are no clients of this bus, one of here that others may ask, and a card that lies. */
export function elsewhere(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  world.agent('travel-planner', {
    presence: 'working',
    doing: 'works on 2 requests',
    about: 'Plans trips by train and boat, and books them once you have agreed.',
    product: 'a2a',
    skills: ['Route planning', 'Timetables', 'Booking', 'Visa rules'],
    address: 'https://agents.example.com/travel/planner/v1',
    reach: ['A2A'],
  });
  world.agent('tcp-peer', {
    presence: 'offline',
    product: 'agent-tool',
    address: 'tcp://192.168.1.7:19900',
    reach: ['TCP, when it listens'],
  });
  world.agent('shop-api-copilot', {
    about: 'Owns the orders API: Fastify, Postgres, its tests and its OpenAPI file.',
    workspace: 'shop-api',
    product: 'GitHub Copilot',
    skills: ['REST APIs', 'PostgreSQL'],
    open: true,
  });
  world.agent('mallory', {
    about: hostile[0] ?? '',
    product: 'a2a',
    skills: [
      ...hostile.slice(0, 9).map((text) => text.slice(0, 60)),
      'x'.repeat(60),
      'سلام دنیا',
      'bell\u0007\u202Efdp',
    ],
    address: `https://evil.example/${'a'.repeat(200)}"><img src=x onerror=window.pwned=1>`,
    reach: ['A2A', '<b>x</b>\u202E'],
  });
  return world;
}

/** Everything that a message should not be able to do. */
export const hostile: readonly string[] = [
  '<script>window.pwned = 1; alert(1)</script><img src=x onerror="window.pwned=1">',
  '<iframe src="https://evil.example/"></iframe><style>body{display:none}</style><base href="https://evil.example/">',
  '[click](javascript:window.pwned=1) [data](data:text/html,<script>alert(1)</script>) [cmd](command:workbench.action.quit)',
  '![pixel](https://evil.example/pixel.png "t") ![x](data:image/svg+xml;base64,PHN2Zy8+)',
  '[https://github.com](https://evil.example/login "https://github.com") <https://evil.example/auto> https://evil.example/bare',
  '[a](<https://evil.example/" onmouseover="window.pwned=1>) [b](https://evil.example/\'onclick=alert(1))',
  '"><svg/onload=window.pwned=1> <math><mi//xlink:href="data:x,<script>window.pwned=1</script>">',
  '```html"><img src=x onerror=window.pwned=1>\n<script>window.pwned=1</script>\n```',
  'Right to left: \u202Egnp.exe\u202C and zero\u200Bwidth and \u{E0068}\u{E0069} tags, bell \u0007',
  '<a href="https://evil.example/" target="_top">leave</a> <form action="https://evil.example/"><button>go</button></form>',
  '<div class="md-link" data-href="command:quit">not a link</div> <div id="app">x</div>',
  `${'['.repeat(3_000)}`,
  `${'> '.repeat(500)}deep`,
  `${'*a **b '.repeat(500)}`,
  'سلام دنیا، این یک پیام است with English inside',
  '|a|b|\n|-|-|\n|<img src=x onerror=window.pwned=1>|[x](javascript:alert(1))|',
];

export function hostileTalk(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  world.agent('mallory', { presence: 'idle', about: '<img src=x onerror=window.pwned=1>', doing: '<b>x</b>' });
  const talk = world.talk('direct', [me, 'mallory']);
  for (const [i, text] of hostile.entries()) {
    world.say(talk, 'mallory', text, 60 - i, {
      files: ['javascript:alert(1)', '/etc/passwd'],
      ...(i === 3 && { kind: 'request', request: 'pending', options: ['<b>yes</b>', 'no\u202Eon'] }),
    });
  }
  return world;
}

export function longTexts(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  world.agent('logger');
  const talk = world.talk('direct', [me, 'logger']);
  world.say(talk, 'logger', Array.from({ length: 200 }, (_, i) => `line ${i} of the log`).join('\n'), 30);
  world.say(
    talk,
    'logger',
    `\`\`\`\n${Array.from({ length: 5_000 }, (_, i) => `code line ${i}`).join('\n')}\n\`\`\``,
    20,
  );
  world.say(talk, 'logger', 'A megabyte. '.repeat(87_000), 10);
  world.say(talk, 'logger', 'short', 5);
  return world;
}

/** What the bus itself has to say: of a request that came to nothing, and what the person wanted to be told. */
export function notices(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  world.agent('shop-api-copilot', { presence: 'idle', workspace: 'shop-api', product: 'GitHub Copilot' });
  world.agent('release-bot', { presence: 'offline', reach: ['inbox'] });
  const talk = world.talk('direct', [me, 'release-bot']);
  const ended_at = new Date(world.now - 8 * 60_000).toISOString();
  const asked = world.say(talk, me, 'Can you cut 2.4 today?', 68, {
    kind: 'request',
    request: 'expired',
    ended_at,
    fates: [{ agent: 'release-bot', step: 'expired', at: ended_at }],
  });
  const text = [
    `Your request ${asked.id} to release-bot has expired without an answer.`,
    'Asked: "Can you cut 2.4 today?"',
    'How far it got: release-bot: stored, never offered.',
    'It is not offered any more. If you still need it, send it again with more time, or ask somebody else.',
  ].join('\n');
  world.say(talk, theBus, text, 8, { notice: true, to: [me], reply_to: asked.id });
  const told = world.talk('direct', [me, theBus]);
  world.say(told, theBus, 'You wanted to be told: infra-codex is idle now.', 200, { notice: true });
  world.say(told, theBus, 'You wanted to be told: shop-api-copilot is idle now.', 3, { notice: true, unread: true });
  return world.inOrder();
}

/** Agents in every state in which the card has something else to say about reaching them. */
export function reaches(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  const hooks = { busy: { how: 'next tool call' }, end_of_turn: { how: 'before it ends' } };
  world.agent('shop-web-copilot', { presence: 'idle', workspace: 'shop-web', product: 'copilot' });
  world.reachable('shop-web-copilot', {
    state: 'idle',
    now: { how: 'new chat turn' },
    ...hooks,
    idle: { how: 'new chat turn' },
    hooks: true,
  });
  world.agent('infra-copilot', {
    presence: 'waiting',
    doing: 'waits for your approval of run_in_terminal',
    workspace: 'infra',
    product: 'copilot',
  });
  world.reachable('infra-copilot', {
    state: 'approval',
    now: {
      blocked: 'waits for your approval of run_in_terminal',
      todo: 'answer it in its window of VS Code; messages come after it',
    },
    ...hooks,
    idle: { how: 'new chat turn' },
    hooks: true,
  });
  world.agent('api-codex', { presence: 'idle', workspace: 'api', product: 'codex' });
  const unheard = {
    blocked: 'no hook of its session was heard yet',
    todo: 'Codex has not run a hook of the bus yet: open Codex and approve them with /hooks',
  };
  world.reachable('api-codex', {
    state: 'unknown',
    now: { how: 'next bus call', ...unheard },
    busy: { how: 'next bus call', ...unheard },
    end_of_turn: unheard,
    idle: { blocked: 'nothing is connected that could wake it' },
    typing: false,
  });
  world.agent('docs-claude', { presence: 'offline', workspace: 'docs', product: 'claude' });
  world.reachable('docs-claude', {});
  return world;
}
