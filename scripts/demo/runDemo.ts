/**
 * Scripted agents that talk over the real bus, so that a newcomer sees a living inbox at once: first a history in one go,
 * then now and then a scene. They react to what the person answers and writes. Needs a running hub.
 */
import { busHome, type BusHome } from '../../src/hub/home.ts';
import { samples } from './cast.ts';
import { forgive } from './over.ts';
import { history, repertoire } from './repertoire.ts';
import { releaseDecision } from './scenes/releaseDecision.ts';
import { Stage } from './stage.ts';

export interface DemoOptions {
  /** The data folder of the bus; the usual one if it is not given. */
  home?: BusHome | string;
  /** How slow the scenes are: 1 is a calm trickle, 0 no pause at all. */
  pace?: number;
  /** How often the repertoire is played; the agents stay there afterwards. */
  rounds?: number;
  /** The folder with shop-api and shop-web in it. */
  folder?: string | undefined;
}

export interface Demo {
  /** The question that waits for the person. */
  question: string;
  /** Settles when the last round was played, the hub went away, or `stop` was called. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** Seconds between two scenes. */
const gaps = [9, 14, 8, 19, 11, 16, 12];

/** Resolves as soon as the history is there. */
export async function runDemo(options: DemoOptions = {}): Promise<Demo> {
  const { pace = 1, rounds = 8, folder = samples } = options;
  const home = typeof options.home === 'string' ? busHome({ AGENT_BUS_HOME: options.home }) : options.home;
  const curtain = new AbortController();
  const stage = new Stage({ home: home ?? busHome(), folder, signal: curtain.signal });
  try {
    await stage.open();
    for (const scene of history) await scene(stage);
    const question = await releaseDecision(stage);
    stage.pace = pace;
    const ended = play(stage, rounds).catch(forgive);
    return {
      question,
      ended,
      stop: async () => {
        curtain.abort();
        stage.close();
        await ended;
        await stage.allAsides();
      },
    };
  } catch (error) {
    stage.close();
    throw error;
  }
}

async function play(stage: Stage, rounds: number): Promise<void> {
  let scenes = 0;
  for (let round = 0; round < rounds; round++) {
    for (const scene of repertoire) {
      await stage.beat(gaps[scenes++ % gaps.length] ?? 10);
      await scene(stage);
    }
  }
}
