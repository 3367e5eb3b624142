import { join } from 'node:path';
import { ownMark } from '../files/ownText.ts';
import type { ConfigFile, Place, Scope } from '../products/product.ts';
import type { SessionState, WakeRoute } from './route.ts';

/** An extension that Copilot CLI runs beside each session. It runs `agent-bus wait --lines`, which tells it what to send. */
export class CopilotExtensionRoute implements WakeRoute {
  readonly name = 'Copilot CLI’s extension';
  private readonly send: (prompt: string) => Promise<boolean>;

  /** @param send whether the extension has got rid of it */
  constructor(send: (prompt: string) => Promise<boolean>) {
    this.send = send;
  }

  /** Nobody but the extension runs it. */
  async detect(): Promise<boolean> {
    return true;
  }

  /** In a turn or at a question it is kept until that is over, and a draft stays where it is. */
  async canReach(): Promise<SessionState> {
    return 'unknown';
  }

  async deliver(_chat: string, text: string): Promise<void> {
    if (!(await this.send(text))) throw new Error('Copilot CLI has not taken it');
  }
}

/** The extension, and the setting without which Copilot CLI does not load it. */
export function extensionFiles(place: Place, scope: Scope, hooks: boolean): ConfigFile[] {
  const own = copilotFolder(place);
  const folder = scope === 'user' ? own : join(place.project, '.github');
  return [
    {
      path: join(folder, 'extensions', 'agent-bus', 'extension.mjs'),
      format: 'text',
      parts: hooks ? [{ kind: 'file', at: [], value: extensionText(place) }] : [],
    },
    {
      path: join(own, 'settings.json'),
      format: 'json',
      parts: hooks ? [{ kind: 'switch', at: ['experimental'], value: true }] : [],
    },
  ];
}

export function copilotFolder({ env, home }: Place): string {
  return env['COPILOT_HOME'] || join(home, '.copilot');
}

/** It lives and dies with the session, and what it has started ends when its stdin does. */
function extensionText({ launch }: Place): string {
  const { command, args } = launch.program('wait', '--lines', '--product', 'copilot-cli', '--session');
  return `// ${ownMark}
// Wakes this session when it is idle and a message waits for it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { joinSession } from '@github/copilot-sdk/extension';

const session = await joinSession({});
const args = [...${JSON.stringify(args)}, session.sessionId];
const waiter = spawn(${JSON.stringify(command)}, args, { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
waiter.on('error', () => undefined);
waiter.stdin.on('error', () => undefined);
createInterface({ input: waiter.stdout }).on('line', async (line) => {
  const { id, prompt } = JSON.parse(line);
  const sent = await session.send({ prompt }).then(
    () => true,
    () => false,
  );
  waiter.stdin.write(JSON.stringify({ id, sent }) + '\\n');
});
`;
}
