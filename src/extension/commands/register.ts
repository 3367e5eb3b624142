import * as vscode from 'vscode';
import { reporting } from '../problems.ts';
import { a2aCommands } from './a2aCommands.ts';
import { agentCommands } from './agentCommands.ts';
import { connectCommands } from './connectCommands.ts';
import { conversationCommands } from './conversationCommands.ts';
import { deliveryCommands } from './deliveryCommands.ts';
import { doorCommands } from './doorCommands.ts';
import { guideCommands } from './guideCommands.ts';
import { hubCommands } from './hubCommands.ts';
import type { CommandParts, Commands } from './parts.ts';

/** All commands, by the name that follows `agentBus.`. */
export function commandTable(parts: CommandParts): Commands {
  return {
    ...hubCommands(parts),
    ...conversationCommands(parts),
    ...agentCommands(parts),
    ...deliveryCommands(parts),
    ...connectCommands(parts),
    ...a2aCommands(parts),
    ...doorCommands(parts),
    ...guideCommands(),
  };
}

export function registerCommands(parts: CommandParts): vscode.Disposable[] {
  return Object.entries(commandTable(parts)).map(([name, run]) =>
    vscode.commands.registerCommand(`agentBus.${name}`, (...args: unknown[]) =>
      reporting(parts.output, () => run(...args)),
    ),
  );
}
