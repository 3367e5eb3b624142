/** What a scripted model does when it hears certain words. */
import type { Script, Turn } from './agentModel.ts';
import type { Step } from './modelWire.ts';

export interface Cue {
  hears: string;
  /** One step per request of the model, and then its turn ends. Gets the id of the message that has the words. */
  does: (id: string) => Step[];
}

export interface Role {
  cues: readonly Cue[];
  /** What the model does with a command that it is told to leave running in the background. */
  background?: (command: string) => Step;
}

/** A model that reads its mail where it is pointed to it, and answers to each cue once. */
export function role({ cues, background }: Role): Script {
  const left = [...cues];
  const steps: Step[] = [];
  return ({ fresh }: Pick<Turn, 'fresh'>): Step | undefined => {
    const text = plain(fresh);
    const told = /leaving this running in the background: ([^\n<]+)/.exec(text)?.[1];
    const found = left.filter(({ hears }) => text.includes(hears));
    for (const cue of found) {
      left.splice(left.indexOf(cue), 1);
      steps.push(...cue.does(idBefore(text, cue.hears)));
    }
    if (found.length === 0 && text.includes('[Agent Bus]')) steps.push({ call: 'inbox' });
    if (told !== undefined && background) steps.push(background(told.trim()));
    return steps.shift();
  };
}

/** Of the message in whose fence the words stand. */
export function idBefore(fresh: string, words: string): string {
  const text = plain(fresh);
  const before = text.slice(0, text.indexOf(words));
  return [...before.matchAll(/<message id="(m[0-9a-z]+)"/g)].at(-1)?.[1] ?? 'none';
}

/** Some products hand on results as JSON in JSON, or escape them. */
function plain(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"');
}
