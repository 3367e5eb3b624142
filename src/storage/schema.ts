/**
 * The database, as numbered migrations. A migration that has shipped is never edited; a new one is added.
 * `user_version` holds the number of the last one applied, in the same transaction as its changes, so an
 * interrupted upgrade leaves the old schema or the new one, never something between.
 */
export const applicationId = 0x41425553; // "ABUS"

export const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE agents (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    about TEXT NOT NULL DEFAULT '',
    workspace TEXT NOT NULL DEFAULT '',
    product TEXT NOT NULL DEFAULT '',
    skills TEXT,
    open INTEGER NOT NULL DEFAULT 0,
    identity TEXT UNIQUE,
    created INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
  );
  -- Former names keep reaching their agent.
  CREATE TABLE aliases (name TEXT PRIMARY KEY, agent INTEGER NOT NULL REFERENCES agents(id)) WITHOUT ROWID;
  CREATE TABLE tokens (hash BLOB PRIMARY KEY, agent INTEGER NOT NULL REFERENCES agents(id), created INTEGER NOT NULL)
    WITHOUT ROWID;
  CREATE INDEX tokens_by_agent ON tokens(agent);

  CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    about TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER NOT NULL
  );
  CREATE INDEX conversations_by_activity ON conversations(last_seq);
  CREATE TABLE members (
    agent INTEGER NOT NULL REFERENCES agents(id),
    conversation INTEGER NOT NULL REFERENCES conversations(id),
    joined INTEGER NOT NULL,
    PRIMARY KEY (agent, conversation)
  ) WITHOUT ROWID;
  CREATE INDEX members_by_conversation ON members(conversation, agent);

  -- seq is the order of the bus. Rows are never changed after they were written.
  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations(id),
    sender INTEGER NOT NULL REFERENCES agents(id),
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    data TEXT,
    files TEXT,
    options TEXT,
    reply_to INTEGER,
    urgent INTEGER NOT NULL DEFAULT 0,
    key TEXT,
    hop INTEGER NOT NULL DEFAULT 0,
    sent_at INTEGER NOT NULL,
    expires_at INTEGER
  );
  CREATE INDEX messages_by_conversation ON messages(conversation, seq);
  CREATE UNIQUE INDEX messages_by_key ON messages(sender, key) WHERE key IS NOT NULL;

  -- Where each recipient stands. phase: 0 unread, 1 open (shown, unfinished), 2 closed.
  CREATE TABLE deliveries (
    seq INTEGER NOT NULL REFERENCES messages(seq),
    agent INTEGER NOT NULL REFERENCES agents(id),
    phase INTEGER NOT NULL DEFAULT 0,
    step TEXT NOT NULL DEFAULT 'stored',
    at INTEGER NOT NULL,
    asks INTEGER NOT NULL DEFAULT 0,
    -- The end of a turn was held up for it; the person wants it delivered.
    held_back INTEGER NOT NULL DEFAULT 0,
    released INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (seq, agent)
  ) WITHOUT ROWID;
  CREATE INDEX deliveries_by_agent ON deliveries(agent, phase, seq);
  -- Requests that were shown and wait for an answer: few, whatever else an agent never acknowledges.
  CREATE INDEX deliveries_unanswered ON deliveries(agent, seq) WHERE phase = 1 AND asks = 1;

  -- Every step after 'stored', in the order it happened.
  CREATE TABLE receipts (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL REFERENCES messages(seq),
    agent INTEGER NOT NULL REFERENCES agents(id),
    step TEXT NOT NULL,
    at INTEGER NOT NULL,
    route TEXT,
    outcome TEXT,
    note TEXT
  );
  CREATE INDEX receipts_by_message ON receipts(seq, id);

  CREATE TABLE requests (
    seq INTEGER PRIMARY KEY REFERENCES messages(seq),
    state TEXT NOT NULL DEFAULT 'pending',
    result_seq INTEGER,
    ended_at INTEGER,
    note TEXT
  );
  CREATE INDEX requests_pending ON requests(seq) WHERE state = 'pending';
  CREATE INDEX requests_by_result ON requests(result_seq) WHERE result_seq IS NOT NULL;

  -- What still has to expire; a row goes when it was dealt with.
  CREATE TABLE expiries (at INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (at, seq)) WITHOUT ROWID;

  -- The chats of products, each with the agent that it holds and what it was last known to do.
  CREATE TABLE chats (
    id TEXT PRIMARY KEY,
    agent INTEGER NOT NULL REFERENCES agents(id),
    workspace TEXT NOT NULL,
    product TEXT NOT NULL,
    window TEXT NOT NULL DEFAULT '',
    home INTEGER REFERENCES agents(id),
    state TEXT NOT NULL,
    tools TEXT,
    asking INTEGER NOT NULL DEFAULT 0,
    waking INTEGER NOT NULL DEFAULT 0,
    hop INTEGER,
    at INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- May agents of one workspace wake agents of another?
  CREATE TABLE consents (
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    verdict TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (sender, recipient)
  ) WITHOUT ROWID;

  -- Agents elsewhere, reached over A2A.
  CREATE TABLE remotes (
    agent INTEGER PRIMARY KEY REFERENCES agents(id),
    url TEXT NOT NULL UNIQUE,
    card TEXT NOT NULL,
    secret TEXT,
    added_by INTEGER NOT NULL REFERENCES agents(id),
    health TEXT NOT NULL,
    trouble TEXT,
    checked_at INTEGER NOT NULL
  );
  -- What was given to them to do, and how far that is.
  CREATE TABLE remote_tasks (
    seq INTEGER NOT NULL REFERENCES messages(seq),
    agent INTEGER NOT NULL REFERENCES agents(id),
    conversation INTEGER NOT NULL REFERENCES conversations(id),
    stage TEXT NOT NULL,
    task TEXT,
    state TEXT,
    progress TEXT,
    question INTEGER,
    updated_at INTEGER NOT NULL,
    unreachable_since INTEGER,
    PRIMARY KEY (seq, agent)
  );
  CREATE INDEX remote_tasks_running ON remote_tasks(seq) WHERE stage <> 'over';
  -- What they call our conversations.
  CREATE TABLE remote_contexts (
    conversation INTEGER NOT NULL REFERENCES conversations(id),
    agent INTEGER NOT NULL REFERENCES agents(id),
    context TEXT NOT NULL,
    PRIMARY KEY (conversation, agent)
  ) WITHOUT ROWID;

  -- Filled in the background, up to meta.indexed_seq. "who" holds a<agent> and c<channel> for those who may see it.
  CREATE VIRTUAL TABLE search USING fts5(
    text, who, content='', contentless_delete=1, prefix='3 4', tokenize='unicode61 remove_diacritics 2'
  );
  `,
  `
  -- The bus itself, which writes notices; there is one.
  CREATE UNIQUE INDEX agents_bus ON agents(kind) WHERE kind = 'bus';
  -- Who wants to be told what, once. A row goes when it was told.
  CREATE TABLE tells (
    id INTEGER PRIMARY KEY,
    agent INTEGER NOT NULL REFERENCES agents(id),
    what TEXT NOT NULL,
    about INTEGER NOT NULL,
    hop INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    UNIQUE (agent, what, about)
  );
  CREATE INDEX tells_by_cause ON tells(what, about);
  `,
];
