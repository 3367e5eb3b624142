import type { Stage } from '../stage.ts';

/** The second story: everybody hears it, each in its own time, and the sender sees who has. */
export async function freeze(stage: Stage): Promise<void> {
  const { api, web, claude, codex, bot } = stage.actors;
  const note = await bot.tell(
    '#release',
    '**main is frozen** for 2.4.0 from now on.\n\n- fixes go to `release/2.4`\n- no schema changes\n- questions to me, here',
    { priority: 'urgent' },
  );
  await stage.beat(2);
  await api.read();
  await api.ack(note);
  await web.read();
  await web.ack(note);
  await stage.beat(3);
  await codex.read();
  await codex.ack(note, 'done', 'The end-to-end suite runs against release/2.4 now.');
  await stage.beat(4);
  await claude.become('working');
  await claude.read();
  await claude.ack(note, 'blocked', 'My schema change is half merged; I take it back first.');
}
