import type { Product } from './agentProduct.ts';
import { claude } from './products/claude.ts';
import { codex } from './products/codex.ts';
import { copilot } from './products/copilot.ts';
import { gemini } from './products/gemini.ts';

export const allProducts: readonly Product[] = [claude, codex, gemini, copilot];
