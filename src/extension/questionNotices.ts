import * as vscode from 'vscode';
import type { MessageView } from '../core/model.ts';
import type { HubEvent } from '../protocol/messages.ts';
import type { HubLink } from './hubLink.ts';
import type { OnceAcrossWindows } from './onceAcrossWindows.ts';
import { reporting } from './problems.ts';
import { plainLine } from './window/plainLine.ts';

interface Parts {
  link: HubLink;
  once: OnceAcrossWindows;
  output: vscode.LogOutputChannel;
  show: (message: MessageView, compose: boolean) => Promise<void>;
}

/** Questions that come within this time become one notification. */
const gatherMs = 400;
/** A window without focus leaves a question to others for at least this long… */
const patienceMs = 1_500;
/** …and for up to this much longer, the longer ago it was used. */
const stalenessMs = 2_500;
const mostButtons = 3;
const never = "Don't Show Again";

/**
 * Tells the person that an agent asked them something; nothing else is worth a notification. All windows hear it, one
 * shows it: the one with the focus, or else the one that was used last. The others have the badge.
 */
export class QuestionNotices implements vscode.Disposable {
  private readonly parts: Parts;
  private readonly subscriptions: vscode.Disposable[];
  private readonly waiting = new Map<string, MessageView>();
  private timer: NodeJS.Timeout | undefined;
  private focusedAt = vscode.window.state.focused ? Date.now() : 0;

  constructor(parts: Parts) {
    this.parts = parts;
    void parts.once.sweep();
    this.subscriptions = [
      parts.link.onEvents((events) => this.hear(events)),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        this.focusedAt = Date.now();
        if (focused && this.waiting.size > 0) this.schedule(gatherMs);
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.subscriptions) one.dispose();
  }

  private hear(events: readonly HubEvent[]): void {
    const { me } = this.parts.link;
    for (const event of events) {
      if (event.type === 'request' && event.state !== 'pending') this.waiting.delete(event.message);
      if (event.type !== 'message') continue;
      const { message } = event;
      // A channel's request names the channel; what asks the person names the person.
      if (message.kind === 'request' && message.to.includes(me) && message.from !== me) {
        this.waiting.set(message.id, message);
      }
    }
    if (this.waiting.size > 0 && this.timer === undefined) this.schedule(this.delay());
  }

  private delay(): number {
    if (vscode.window.state.focused) return gatherMs;
    const minutesAway = (Date.now() - this.focusedAt) / 60_000;
    return patienceMs + stalenessMs * (1 - 1 / (1 + minutesAway));
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void reporting(this.parts.output, () => this.notify());
    }, ms);
  }

  private async notify(): Promise<void> {
    const questions = [...this.waiting.values()];
    this.waiting.clear();
    if (vscode.workspace.getConfiguration('agentBus').get('notifications') === 'none') return;
    const mine: MessageView[] = [];
    for (const question of questions) {
      if (await this.parts.once.claim(`${question.id}-${Date.parse(question.sent_at)}`)) mine.push(question);
    }
    const [first] = mine;
    if (mine.length === 1 && first) await this.ask(first);
    else if (mine.length > 1 && first) await this.summarize(mine);
  }

  private async ask(question: MessageView): Promise<void> {
    const options = (question.options ?? []).map((option) => ({ option, title: plainLine(option, 40) }));
    const fits = options.length > 0 && options.length <= mostButtons && vscode.workspace.isTrusted;
    const buttons = fits ? options : [{ title: 'Answer' }];
    const text = `${plainLine(question.from, 40)} asks: “${plainLine(question.text, 160)}”`;
    const chosen = await vscode.window.showInformationMessage<{ title: string; option?: string }>(
      `Agent Bus: ${text}`,
      ...buttons,
      { title: 'Show' },
      { title: never },
    );
    if (!chosen) return;
    if (chosen.option !== undefined) return await this.answer(question, chosen.option);
    if (chosen.title === never) return await this.silence();
    await this.parts.show(question, chosen.title === 'Answer');
  }

  private async summarize(questions: readonly MessageView[]): Promise<void> {
    const senders = [...new Set(questions.map(({ from }) => plainLine(from, 40)))];
    const who = senders.length <= 3 ? senders.join(', ') : `${senders.slice(0, 2).join(', ')} and others`;
    const text = `Agent Bus: ${questions.length} questions for you from ${who}.`;
    const chosen = await vscode.window.showInformationMessage(text, 'Show', never);
    if (chosen === never) await this.silence();
    if (chosen === 'Show') await vscode.commands.executeCommand('agentBus.showQuestions');
  }

  /** The notification may have been on the screen for hours: only a question that is still open is answered. */
  private async answer(question: MessageView, option: string): Promise<void> {
    const client = await this.parts.link.connect();
    const { data } = await client.call('status', { id: question.id });
    if (data.request?.state !== 'pending') {
      void vscode.window.showInformationMessage('Agent Bus: this question is closed already; nothing was sent.');
      return;
    }
    await client.call('send', { reply_to: question.id, text: option, kind: 'reply', key: `notice-${question.id}` });
    client.shown([question.id]);
  }

  private async silence(): Promise<void> {
    const settings = vscode.workspace.getConfiguration('agentBus');
    await settings.update('notifications', 'none', vscode.ConfigurationTarget.Global);
  }
}
