import { BusClient } from '../../src/client/busClient.ts';
import type { MessageView } from '../../src/core/model.ts';
import type { BusHome } from '../../src/hub/home.ts';
import { version } from '../../src/hub/version.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import { Actor } from './actor.ts';
import { cast, type Role } from './cast.ts';
import { forgive, Over } from './over.ts';
import { talkBack } from './talkBack.ts';

/** What the person did about a question: the words of the answer, or nothing when it was closed without any. */
export type Decision = string | undefined;

export interface StageOptions {
  home: BusHome;
  /** Where the workspaces of the agents are. */
  folder: string;
  signal: AbortSignal;
}

/** Everybody on the bus, the clock of the play, and a look at what the person does. */
export class Stage {
  readonly actors: Record<Role, Actor>;
  /** Pauses of a scene are multiplied by this; 0 while the history is made. */
  pace = 0;
  private readonly options: StageOptions;
  private readonly questions = new Map<string, (decision: Decision) => void>();
  private watcher: BusClient | undefined;
  private readonly turns = new Map<string, number>();
  private readonly asides = new Set<Promise<void>>();

  constructor(options: StageOptions) {
    this.options = options;
    const actor = (role: Role): Actor => new Actor(cast[role], options.home, options.folder);
    this.actors = {
      api: actor('api'),
      web: actor('web'),
      claude: actor('claude'),
      codex: actor('codex'),
      bot: actor('bot'),
    };
  }

  async open(): Promise<void> {
    const { home } = this.options;
    // Passing: looking on is not the person being there.
    this.watcher = await BusClient.connect({
      home,
      version,
      via: 'rpc',
      start: false,
      reconnect: true,
      passing: true,
    });
    await this.watcher.subscribe({ onEvent: (event) => this.notice(event) });
    for (const actor of Object.values(this.actors)) await actor.enter();
    await this.openChannel('release', 'Freezes, builds and what goes out.');
    for (const actor of Object.values(this.actors)) await actor.join('release');
  }

  close(): void {
    for (const actor of Object.values(this.actors)) actor.leave();
    this.watcher?.close();
  }

  /** Something that goes on beside the scenes. */
  aside(work: Promise<void>): void {
    const settled = work.catch(forgive).finally(() => this.asides.delete(settled));
    this.asides.add(settled);
  }

  async allAsides(): Promise<void> {
    await Promise.all(this.asides);
  }

  /** How often that scene was played before. */
  turn(scene: string): number {
    const turn = this.turns.get(scene) ?? 0;
    this.turns.set(scene, turn + 1);
    return turn;
  }

  get isDecisionOpen(): boolean {
    return this.questions.size > 0;
  }

  /** Resolves when the person has answered or closed that question. */
  decision(question: string): Promise<Decision> {
    const { signal } = this.options;
    return new Promise((resolve, reject) => {
      const over = (): void => reject(new Over());
      if (signal.aborted) return over();
      signal.addEventListener('abort', over, { once: true });
      this.questions.set(question, (decision) => {
        this.questions.delete(question);
        signal.removeEventListener('abort', over);
        resolve(decision);
      });
    });
  }

  /** A pause as people and models make it. Rejects when the play is over. */
  beat(seconds: number): Promise<void> {
    const { signal } = this.options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Over());
      const over = (): void => {
        clearTimeout(timer);
        reject(new Over());
      };
      const timer = setTimeout(
        () => {
          signal.removeEventListener('abort', over);
          resolve();
        },
        seconds * this.pace * 1000,
      );
      signal.addEventListener('abort', over, { once: true });
    });
  }

  private async openChannel(name: string, about: string): Promise<void> {
    if (!this.watcher) return;
    const { data } = await this.watcher.call('channel', { action: 'list' });
    if (data.channels.some((channel) => channel.name === `#${name}`)) return;
    await this.watcher.call('channel', { action: 'create', name, about });
  }

  private notice(event: HubEvent): void {
    if (event.type === 'message' && event.message.from === 'person') this.hear(event.message);
    if (event.type === 'request' && event.state !== 'pending' && event.state !== 'answered') {
      this.questions.get(event.message)?.(undefined);
    }
  }

  private hear(message: MessageView): void {
    const answered = this.questions.get(message.reply_to ?? '');
    if (answered) return answered(message.text);
    for (const actor of Object.values(this.actors)) {
      if (message.to.includes(actor.name)) this.aside(talkBack(this, actor, message));
    }
  }
}
