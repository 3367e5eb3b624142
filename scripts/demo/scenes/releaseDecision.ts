import type { Decision, Stage } from '../stage.ts';

const ship = 'Ship 2.4.0 now';
const wait = 'Wait for the schema change';
const drop = 'Take the change out';

/** The third story: one click of the person, and the agents go on. */
export async function releaseDecision(stage: Stage): Promise<string> {
  const { bot } = stage.actors;
  await bot.become('waiting');
  const question = await bot.ask(
    'person',
    '2.4.0 is built and green, but **shop-api-claude** has a schema change half merged.\n\n' +
      '- shipping now is safe: the change is behind a flag\n- waiting costs about a day\n\nWhat do we do?',
    { options: [ship, wait, drop], priority: 'urgent' },
  );
  stage.aside(react(stage, question));
  return question;
}

async function react(stage: Stage, question: string): Promise<void> {
  const decision = await stage.decision(question);
  await stage.beat(1.5);
  await stage.actors.bot.read();
  await stage.actors.bot.become('working');
  await follow(stage, decision);
  await stage.actors.bot.become('idle');
}

async function follow(stage: Stage, decision: Decision): Promise<void> {
  const { bot, claude, codex } = stage.actors;
  switch (decision) {
    case ship: {
      await bot.tell('#release', 'The person says **go**. 2.4.0 is on its way: tag, publish, announce.');
      await stage.beat(5);
      await codex.read();
      await codex.tell('#release', 'Smoke tests against production: 12 of 12.');
      await stage.beat(3);
      await bot.tell(
        'person',
        '2.4.0 is out. `main` is open again.\n\n```sh\ngit fetch --tags && git log v2.3.2..v2.4.0\n```',
      );
      return;
    }
    case wait: {
      const asked = await bot.ask(claude.name, 'We wait for your schema change. When can it be merged?');
      await stage.beat(3);
      await claude.read();
      await stage.beat(4);
      await claude.answer(asked, 'The writes are left, then one run of the checks: **tomorrow at ten**.');
      await bot.tell(
        '#release',
        '2.4.0 waits for the schema change; the next try is tomorrow at ten. `main` stays frozen.',
      );
      return;
    }
    case drop: {
      const asked = await bot.ask(claude.name, 'Please take the schema change out of `release/2.4`.');
      await stage.beat(3);
      await claude.read();
      await stage.beat(4);
      await claude.answer(asked, 'Out:\n\n```sh\ngit revert --no-edit 4f1c2ab 9d03e77\n```\n\nIt comes back with 2.5.');
      await bot.tell('#release', 'The schema change is out of 2.4.0. I build once more, then it ships.');
      return;
    }
    case undefined:
      await bot.tell('#release', 'No decision about 2.4.0, so nothing ships. `main` stays frozen.');
      return;
    default:
      await bot.tell(
        'person',
        `Understood: “${firstLine(decision)}” I hold 2.4.0 until that is done, and ask again then.`,
      );
  }
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
