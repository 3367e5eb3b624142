import { blockedTest } from './scenes/blockedTest.ts';
import { buildReport } from './scenes/buildReport.ts';
import { cursorQuestion } from './scenes/cursorQuestion.ts';
import { flakyTest } from './scenes/flakyTest.ts';
import { freeze } from './scenes/freeze.ts';
import { migrationProgress } from './scenes/migrationProgress.ts';
import { newTerminal } from './scenes/newTerminal.ts';
import { ordersShape } from './scenes/ordersShape.ts';
import { pagingReview } from './scenes/pagingReview.ts';
import { roundingDecision } from './scenes/roundingDecision.ts';
import type { Stage } from './stage.ts';

export type Scene = (stage: Stage) => Promise<void>;

/** What has happened before the newcomer looks. */
export const history: readonly Scene[] = [pagingReview, flakyTest, migrationProgress, ordersShape, freeze, blockedTest];

/** What goes on happening, in this order, again and again. */
export const repertoire: readonly Scene[] = [
  buildReport,
  cursorQuestion,
  migrationProgress,
  newTerminal,
  flakyTest,
  roundingDecision,
  buildReport,
  ordersShape,
];
