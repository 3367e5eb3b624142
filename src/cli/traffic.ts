import type { HubEvent } from '../protocol/messages.ts';
import { toText } from './messageLines.ts';
import { firstLine, visibleLine } from './terminalText.ts';
import { clockTime } from './times.ts';

/** What happens on the bus, as lines for a person; what is no news gives no line. */
export class Traffic {
  private readonly presence = new Map<string, string>();

  line(event: HubEvent): string | undefined {
    const what = this.describe(event);
    return what === undefined ? undefined : `${clockTime()}  ${what}`;
  }

  private describe(event: HubEvent): string | undefined {
    switch (event.type) {
      case 'message': {
        const { id, from, to, kind, text, priority, reply_to } = event.message;
        const about = `${kind}${reply_to ? ` to ${reply_to}` : ''}${priority === 'urgent' ? ', urgent' : ''}`;
        return `${from} → ${toText(to)}  ${about} ${id}: ${firstLine(text, 100)}`;
      }
      case 'receipt': {
        const { agent, step, outcome, note, route } = event.receipt;
        // The message's own line says so already.
        if (step === 'stored' || step === 'offered') return undefined;
        const by = route ? ` by ${route}` : '';
        const why = note ? ` (${visibleLine(note, 100)})` : '';
        return `  ${event.message} ${step}${outcome ? ` ${outcome}` : ''}: ${agent}${by}${why}`;
      }
      case 'request':
        return event.state === 'pending' ? undefined : `  ${event.message} is ${event.state}`;
      case 'presence': {
        const { name, presence, kind } = event.agent;
        const changed = this.presence.get(name) !== presence;
        this.presence.set(name, presence);
        return changed && kind !== 'person' ? `  ${name} is ${presence}` : undefined;
      }
      case 'paused':
        return event.paused ? '  deliveries are paused' : '  deliveries go on';
      case 'agents':
      case 'unread':
        return undefined;
    }
  }
}
