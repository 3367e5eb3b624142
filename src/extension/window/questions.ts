import * as vscode from 'vscode';
import type { AskParams, AskResult } from '../../protocol/reachMessages.ts';
import { question } from './wording.ts';

/** Puts a question of the hub to the person at this window. Closing it is no answer. */
export async function askPerson(params: AskParams): Promise<AskResult> {
  const { text, answers } = question(params);
  const chosen = await vscode.window.showInformationMessage(text, ...Object.keys(answers));
  return { verdict: (chosen === undefined ? undefined : answers[chosen]) ?? 'dismissed' };
}
