/** Codex asks its person about hooks that it does not know yet; until they are approved it skips them without a word. */
import { pause, until } from '../../hubProcess.ts';
import type { AgentTerminal } from '../agentTerminal.ts';

/** @param choice 1 looks at the hooks one by one, 2 trusts all of them, 3 goes on without */
export async function reviewHooks(terminal: AgentTerminal, choice: 2 | 3): Promise<void> {
  await terminal.shows('Hooks need review');
  await until('the decision is taken', async () => {
    const screen = await terminal.screen();
    if (!screen.includes('Hooks need review')) return true;
    // Where the choice has to be confirmed, it must be the one that stands out by then.
    await terminal.press(new RegExp(`› ${choice}\\.`).test(screen) ? 'Enter' : String(choice));
    await pause(300);
    return false;
  });
}
