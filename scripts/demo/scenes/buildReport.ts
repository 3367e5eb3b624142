import type { Stage } from '../stage.ts';

export async function buildReport(stage: Stage): Promise<void> {
  const { api, web, bot } = stage.actors;
  const build = 311 + stage.turn('buildReport');
  await bot.become('working');
  await stage.beat(2);
  const seconds = 64 + (build % 9);
  await bot.tell(
    '#release',
    `Build **${build}** of \`release/2.4\` is green: 212 tests in ${seconds} s, bundle ${418 + (build % 5)} kB.`,
    { data: { build, passed: 212, seconds } },
  );
  await bot.become(stage.isDecisionOpen ? 'waiting' : 'idle');
  await stage.beat(2);
  await web.read();
  await api.read();
}
