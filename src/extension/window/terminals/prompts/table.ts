import type { ReadPrompt } from '../promptLook.ts';
import { readClaude } from './claude.ts';
import { readCodex } from './codex.ts';
import { readCopilot } from './copilot.ts';
import { readGemini } from './gemini.ts';

/** By what a product's agents are on the bus. */
export const prompts: ReadonlyMap<string, ReadPrompt> = new Map([
  ['claude', readClaude],
  ['codex', readCodex],
  ['copilot-cli', readCopilot],
  ['gemini', readGemini],
]);
