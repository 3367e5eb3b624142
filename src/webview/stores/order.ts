import { messageId } from '../../core/model.ts';

/** The place of a message in the order of the bus; what is no message id comes first. */
export function orderOf(id: string | undefined): number {
  return id === undefined ? -1 : (messageId.parse(id) ?? -1);
}
