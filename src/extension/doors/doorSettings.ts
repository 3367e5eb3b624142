import { isDeepStrictEqual } from 'node:util';
import { BusError } from '../../core/errors.ts';
import type { DoorName, DoorParams, DoorView } from '../../protocol/doorMessages.ts';

/** What the person has set about one door; what is not set is left to the command line. */
export type DoorSettings = Partial<Omit<DoorParams, 'door' | 'on'>> & { enabled?: boolean };

/** As much of VS Code's configuration as is read here. */
export interface Configuration {
  inspect(name: string): { globalValue?: unknown } | undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isSwitch = (value: unknown): boolean => typeof value === 'boolean';
const isPort = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;
const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const fields: Record<DoorName, Record<string, [setting: string, fits: (value: unknown) => boolean]>> = {
  frames: {
    enabled: ['doors.frames.enabled', isSwitch],
    port: ['doors.frames.port', isPort],
    to: ['doors.frames.to', isText],
    bind: ['doors.frames.bind', isText],
    peers: ['doors.frames.peers', isList],
  },
  broker: {
    enabled: ['doors.broker.enabled', isSwitch],
    port: ['doors.broker.port', isPort],
  },
};

/** Only what stands in the person's own settings: a default is nobody's wish. */
export function readDoorSettings(configuration: Configuration, door: DoorName): DoorSettings {
  const found: Record<string, unknown> = {};
  for (const [field, [setting, fits]] of Object.entries(fields[door])) {
    const value = configuration.inspect(setting)?.globalValue;
    if (value === undefined) continue;
    if (!fits(value)) {
      throw new BusError('bad-settings', `The setting agentBus.${setting} has a value that can’t be used.`, {
        next: 'Correct it, or reset it.',
      });
    }
    found[field] = value;
  }
  return found;
}

/**
 * What to ask of the hub so that a door is as the person has set it; nothing if it is so already.
 * @param openedBefore a setting had opened it: it is closed when that setting goes, since the editor takes a switch that is
 * put back to its default for one that was never touched.
 */
export function doorWish(
  view: DoorView,
  { enabled, ...rest }: DoorSettings,
  openedBefore: boolean,
): DoorParams | undefined {
  const wanted = Object.entries(rest) as [keyof DoorView, unknown][];
  if (enabled === undefined && wanted.length === 0 && !openedBefore) return undefined;
  const on = enabled ?? (openedBefore ? false : view.on);
  const isSo =
    on === view.on && on === view.open && wanted.every(([field, value]) => isDeepStrictEqual(view[field], value));
  return isSo ? undefined : { door: view.door, on, ...rest };
}
