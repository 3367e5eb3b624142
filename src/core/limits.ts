/** The bounds of the bus, in one place: schemas, documentation and checks all read them from here. */
export const limits = {
  /** Bytes of UTF-8 in one message's text, and again in its JSON data. */
  textBytes: 1_048_576,
  nameLength: 40,
  aboutLength: 300,
  noteLength: 2_000,
  keyLength: 200,
  agents: 10_000,
  recipients: 100,
  options: 10,
  optionLength: 200,
  files: 20,
  fileLength: 1_000,
  idsPerCall: 200,
  page: 100,
  /** One blocking call; clients give up after 60 s and more. */
  waitSeconds: 45,
  waitsPerAgent: 100,
  waitsInAll: 20_000,
  expirySeconds: 30 * 24 * 3600,
  skills: 50,
  skillLength: 60,
  addressLength: 2_000,
  jsonDepth: 64,
  /** Chats that are remembered; the oldest are forgotten first. */
  chats: 1_000,
  chatIdLength: 200,
  /** What one agent may wait to be told. */
  tells: 100,
} as const;

/** What a person may change in settings.json. */
export interface Tunables {
  /** Messages one sender may send at once, and how many per second it regains. */
  rateBurst: number;
  ratePerSecond: number;
  /** Messages that may wait, unread or unfinished, for one agent. */
  mailbox: number;
  /** Replies to replies to replies… before a person has to say "go on". */
  hops: number;
  /** …and before an idle agent is no longer woken for the next one without a person's word. */
  wakeHops: number;
}

export const defaultTunables: Tunables = {
  rateBurst: 2_000,
  ratePerSecond: 100,
  mailbox: 20_000,
  hops: 20,
  wakeHops: 8,
};

export const namePattern = /^[a-z0-9][a-z0-9-]{0,39}$/;
