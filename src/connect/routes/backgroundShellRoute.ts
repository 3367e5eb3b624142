import type { Part } from '../products/product.ts';
import type { SessionState, WakeRoute } from './route.ts';

/**
 * A command that the model has left running, `agent-bus wait --session ID`: its end begins a turn in Copilot CLI, and in
 * Gemini CLI where the person has switched that on. What it says may look like the person's own words by then, so it only
 * points to the inbox.
 */
export class BackgroundShellRoute implements WakeRoute {
  readonly name = 'background command';
  private readonly again: string;
  private readonly say: (text: string) => Promise<void>;

  /** @param again how the model sets it anew */
  constructor(again: string, say: (text: string) => Promise<void>) {
    this.again = again;
    this.say = say;
  }

  /** Nobody but the model runs it. */
  async detect(): Promise<boolean> {
    return true;
  }

  /** Its end is told when a turn or a question is over, and a draft stays where it is. */
  async canReach(): Promise<SessionState> {
    return 'unknown';
  }

  deliver(_chat: string, text: string): Promise<void> {
    return this.say(`${text}\n${leaveRunning(this.again)}\n`);
  }
}

export function leaveRunning(command: string): string {
  return `To be woken when a message comes, end each turn by leaving this running in the background: ${command}`;
}

/** Without these the end of a background command is nothing to Gemini CLI. */
export const geminiSwitches: readonly Part[] = [
  { kind: 'switch', at: ['experimental', 'modelSteering'], value: true },
  { kind: 'switch', at: ['tools', 'shell', 'backgroundCompletionBehavior'], value: 'inject' },
];
