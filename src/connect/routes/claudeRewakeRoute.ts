import type { Part, Place } from '../products/product.ts';
import type { SessionState, WakeRoute } from './route.ts';

/** Claude Code begins a turn with what such a hook said on stderr when it ends with this. */
export const rewakeExit = 2;

/** A week: Claude Code ends a hook that takes longer. */
const timeoutSeconds = 604_800;

/**
 * What sets a waiting process. Each prompt does, also the one that a wake has become, and so every waiting process has a
 * successor, even where the person breaks the turn off, of which no hook tells.
 */
const moments = ['SessionStart', 'UserPromptSubmit'];

/** A hook of Claude Code that waits in the background: `agent-bus wait --hook claude`. Its end begins a turn. */
export class ClaudeRewakeRoute implements WakeRoute {
  readonly name = 'rewake hook';
  private readonly env: Place['env'];
  private readonly say: (text: string) => Promise<void>;

  constructor(env: Place['env'], say: (text: string) => Promise<void>) {
    this.env = env;
    this.say = say;
  }

  /**
   * Only a person's session in a terminal goes on after its turn. Any other (`claude -p`, a program's) would wait for the
   * hook to end, and so would a version that runs no hooks in the background: those don't say that somebody attends.
   */
  async detect(): Promise<boolean> {
    return this.env['CLAUDE_CODE_ENTRYPOINT'] === 'cli' && this.env['CLAUDE_CODE_SESSION_ATTENDED'] === '1';
  }

  /** In a turn or at a question it is kept until that is over, and a draft stays where it is. */
  async canReach(): Promise<SessionState | undefined> {
    return (await this.detect()) ? 'unknown' : undefined;
  }

  deliver(_chat: string, text: string): Promise<void> {
    return this.say(`${text}\n`);
  }
}

export function rewakeHooks({ launch }: Place): Part[] {
  const hook = {
    type: 'command',
    // Without a shell in between, so that it sees Claude Code end.
    command: `exec ${launch.shell('wait', '--hook', 'claude')}`,
    // Versions that know only the first of these run it in the background, and that is all.
    async: true,
    asyncRewake: true,
    rewakeMessage: 'Agent Bus has woken you, not the person:',
    rewakeSummary: 'A message has come by Agent Bus',
    timeout: timeoutSeconds,
  };
  return moments.map((event) => ({ kind: 'hook', at: ['hooks', event], value: { hooks: [hook] } }));
}
