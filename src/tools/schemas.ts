import { z } from 'zod';
import { limits } from '../core/limits.ts';

/** The pieces that several tools share. Descriptions are short: every session of every agent pays for them. */

export const waitSeconds = z.number().min(0).max(limits.waitSeconds).default(0);

export const page = {
  limit: z.number().int().min(1).max(limits.page).default(20),
  cursor: z.string().max(20).optional().describe('`next` of the page before'),
};

/** Characters of message text in one answer: a model pays for each, a program does not. */
export const budget = { model: 40_000, program: 4_000_000 } as const;

/** Characters of one message that a model gets at once. */
export const excerptLength = 20_000;
