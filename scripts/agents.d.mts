export type AgentProduct = 'claude' | 'codex' | 'gemini' | 'copilot';
export const agentVersions: Record<AgentProduct, [name: string, version: string]>;
export class AgentsUnavailable extends Error {}
export function ensureAgents(options?: { say?: (text: string) => void }): Promise<{ bin: string; node: string }>;
