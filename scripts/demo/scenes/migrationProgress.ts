import type { Stage } from '../stage.ts';

const reports = [
  'The move of the orders is through its first half.\n\n| step | state |\n|---|---|\n| copy rows | done |\n| ' +
    'check sums | done |\n| switch reads | next |\n\nNothing to decide yet.',
  'Reads are on the new table; **0 of 41,208** rows differ. I go on with the writes.',
  'Writes go to both tables now. I watch it for a while before I drop the old one.',
  'The old table is not read by anybody any more. I leave it there until after the release.',
];

/** An agent that is busy for a while and tells the person how far it is. */
export async function migrationProgress(stage: Stage): Promise<void> {
  const { claude } = stage.actors;
  await claude.become('working');
  await claude.tell('person', reports[stage.turn('migrationProgress') % reports.length] ?? '');
  await stage.beat(5);
}
