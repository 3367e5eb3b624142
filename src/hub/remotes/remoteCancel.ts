import { messageId } from '../../core/model.ts';
import { Changes } from '../../core/receipts.ts';
import { stateName } from '../../transports/a2a/remotePicture.ts';
import { RemoteTrouble } from '../../transports/a2a/remoteTrouble.ts';
import type { RemoteTask } from './remoteTask.ts';

/** Nobody here wants it any more: it was cancelled, has expired, or can't be answered. */
export function isCalledOff({ world, message, record }: RemoteTask): boolean {
  const step = world.store.delivery(message.seq, record.agent)?.step;
  return step === 'cancelled' || step === 'expired' || step === 'undeliverable';
}

/** Tells the agent so, as far as it has heard of it, and notes what it said to that. */
export async function callOff(task: RemoteTask, signal: AbortSignal): Promise<void> {
  const { world, record } = task;
  // Others of here still want the task that this one only went on with.
  const alone = world.leaderOf(task) === undefined && world.followersOf(task).length === 0;
  if (alone && record.stage !== 'unsent') {
    const id = record.task ?? (await found(task, signal));
    const said = id === undefined ? unheard : await cancel(task, id, signal);
    await note(task, said.note);
    return task.end(said.state ?? record.state);
  }
  task.end();
}

/** What the agent said to it, and the state of its task by then. */
interface Said {
  note: string;
  state?: string;
}

const unheard: Said = { note: 'it is not known whether the agent got it' };

async function found(task: RemoteTask, signal: AbortSignal): Promise<string | undefined> {
  const { store, remote } = task.world;
  const context = store.remoteContext(task.message.conversation, task.record.agent);
  try {
    return (await remote.client.find(task.letterId, context, signal))?.id;
  } catch (error) {
    if (error instanceof RemoteTrouble && (error.kind === 'unsupported' || error.kind === 'refused')) return undefined;
    throw error;
  }
}

async function cancel({ world }: RemoteTask, id: string, signal: AbortSignal): Promise<Said> {
  try {
    const { status } = await world.remote.client.cancel(id, signal);
    const state = status ? stateName(status.state) : 'unknown';
    const done = state === 'canceled';
    return { state, note: done ? 'the agent has cancelled its task' : `the agent was told; its task is ${state}` };
  } catch (error) {
    if (!(error instanceof RemoteTrouble) || error.kind === 'unreachable' || error.kind === 'lost') throw error;
    if (error.kind === 'unknown-task') return { note: 'the agent does not know the task any more' };
    return { note: `the agent did not cancel its task: ${error.message}` };
  }
}

async function note({ world, message, record }: RemoteTask, text: string): Promise<void> {
  const { bus, store, log } = world;
  const changes = new Changes();
  await store.write((tx) => {
    changes.receipts.length = 0;
    const step = tx.delivery(message.seq, record.agent)?.step;
    if (step) bus.receipts.record(tx, changes, message, record.agent, { step, route: 'a2a', note: text });
  });
  bus.receipts.publish(changes);
  log.info('remote-cancel', { message: messageId.format(message.seq), result: text });
}
