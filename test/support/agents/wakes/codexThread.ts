import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentRoom } from '../agentRoom.ts';

/** The id of the newest session; hooks and MCP calls name the same. */
export function codexThread(room: AgentRoom): string {
  const files = readdirSync(join(room.home, '.codex', 'sessions'), { recursive: true, encoding: 'utf8' });
  const ids = files.flatMap(
    (file) => /rollout-(.+?)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(file)?.[2] ?? [],
  );
  const newest = ids.sort().at(-1);
  if (newest === undefined) throw new Error('Codex has written no session yet');
  return newest;
}
