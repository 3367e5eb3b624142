import { connectAgent } from '../connect/connectFlow.ts';
import { requireTrust } from '../problems.ts';
import type { CommandParts, Commands } from './parts.ts';

export function connectCommands({ installed, texts, extension }: CommandParts): Commands {
  return {
    async connectAgent() {
      requireTrust();
      const { bin } = await installed();
      await connectAgent({ texts, bin, extension });
    },
  };
}
