import { delimiter } from 'node:path';
import type * as vscode from 'vscode';

/**
 * Terminals of this window find the command `agent-bus`, and agents started in them the same bus. Who such an agent is
 * follows from its product and its folder, so nothing of this window goes with it. Unchanged values are left alone: a
 * change marks every open terminal as outdated.
 */
export function equipTerminals(
  collection: vscode.EnvironmentVariableCollection,
  bin: string,
  chosenHome: string | undefined,
): void {
  collection.persistent = true;
  collection.description = 'Adds the command `agent-bus`, by which agents in terminals reach the bus.';
  const path = `${bin}${delimiter}`;
  if (collection.get('PATH')?.value !== path) {
    // Again when the shell is up, since start files like to set PATH anew.
    collection.prepend('PATH', path, { applyAtProcessCreation: true, applyAtShellIntegration: true });
  }
  if (!chosenHome) collection.delete('AGENT_BUS_HOME');
  else if (collection.get('AGENT_BUS_HOME')?.value !== chosenHome) collection.replace('AGENT_BUS_HOME', chosenHome);
}
