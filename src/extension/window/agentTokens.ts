import type { SecretStorage } from 'vscode';
import { BusClient } from '../../client/busClient.ts';
import { BusError } from '../../core/errors.ts';

type Home = Parameters<typeof BusClient.connect>[0]['home'];

/**
 * The token that an agent of this window shows over MCP. It is made once per name and kept where the editor keeps
 * secrets; where the hub no longer knows it (a new database, revoked), it is made anew. It is never written to a log.
 */
export class AgentTokens {
  private readonly secrets: SecretStorage;
  /** For editors without a place for secrets. */
  private readonly known = new Map<string, string>();

  constructor(secrets: SecretStorage) {
    this.secrets = secrets;
  }

  async tokenFor(client: BusClient, home: Home, version: string): Promise<string> {
    const key = `agent-token:${client.agent}`;
    const kept = this.known.get(key) ?? (await this.read(key));
    if (kept !== undefined && (await isKnown(kept, client.agent, home, version))) return this.keep(key, kept);
    const { token } = await client.request('mint', { name: client.agent });
    await this.write(key, token);
    return this.keep(key, token);
  }

  private keep(key: string, token: string): string {
    this.known.set(key, token);
    return token;
  }

  private async read(key: string): Promise<string | undefined> {
    try {
      return await this.secrets.get(key);
    } catch {
      return undefined;
    }
  }

  private async write(key: string, token: string): Promise<void> {
    try {
      await this.secrets.store(key, token);
    } catch {
      // It lasts as long as this window, then.
    }
  }
}

async function isKnown(token: string, agent: string, home: Home, version: string): Promise<boolean> {
  try {
    const probe = await BusClient.connect({
      ...(home && { home }),
      version,
      token,
      as: agent,
      via: 'rpc',
      passing: true,
      start: false,
    });
    probe.close();
    return true;
  } catch (error) {
    if (error instanceof BusError && error.code === 'unauthorized') return false;
    throw error;
  }
}
