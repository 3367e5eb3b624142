/** The bus as the person sees it from outside of any editor, to check what the windows show against it. */
import type { MessageStatus } from '../../../src/core/progress.ts';
import { BusClient } from '../../../src/client/busClient.ts';
import type { AgentView, MessageView } from '../../../src/core/model.ts';
import { busHome } from '../../../src/hub/home.ts';
import type { StoryMessage } from '../../../src/protocol/storyMessages.ts';
import { until } from '../hubProcess.ts';
import { editorPatienceMs } from './editorTools.ts';

export class PersonOnBus {
  readonly client: BusClient;

  private constructor(client: BusClient) {
    this.client = client;
  }

  /** Connects to the hub that a window has started; starts none itself. */
  static async join(home: string): Promise<PersonOnBus> {
    const options = { via: 'rpc', version: '0.1.0', home: busHome({ AGENT_BUS_HOME: home }), start: false } as const;
    const connect = () => BusClient.connect({ ...options, reconnect: true }).catch(() => undefined);
    return new PersonOnBus(await until('a window has started the hub', connect, editorPatienceMs));
  }

  close(): void {
    this.client.close();
  }

  async agents(): Promise<AgentView[]> {
    const { data } = await this.client.call('agents', { limit: 100 });
    return data.agents;
  }

  agent(name: string): Promise<AgentView | undefined> {
    return this.agents().then((all) => all.find((one) => one.name === name));
  }

  /** Waits until the agent is as wanted. */
  whenAgent(name: string, what: string, isSo: (agent: AgentView) => boolean): Promise<AgentView> {
    const look = async (): Promise<AgentView | undefined> => {
      const agent = await this.agent(name);
      return agent && isSo(agent) ? agent : undefined;
    };
    return until(`${name} ${what}`, look, editorPatienceMs);
  }

  async status(id: string): Promise<MessageStatus> {
    return (await this.client.call('status', { id })).data;
  }

  /** Every message of all conversations, oldest first. */
  async everything(): Promise<StoryMessage[]> {
    const { conversations } = await this.client.request('overview', { filter: 'all', limit: 500 });
    const pages = await Promise.all(
      conversations.map(({ id }) => this.client.request('story', { conversation: id, limit: 200 })),
    );
    return pages.flatMap((page) => page.messages).sort((a, b) => order(a) - order(b));
  }

  whenMessage(what: string, isIt: (message: StoryMessage) => boolean): Promise<StoryMessage> {
    return until(what, async () => (await this.everything()).find(isIt), editorPatienceMs);
  }

  async send(
    to: string,
    text: string,
    more: { kind?: 'request' | 'inform'; options?: string[] } = {},
  ): Promise<string> {
    return (await this.client.call('send', { to: [to], text, ...more })).data.id;
  }

  /** The steps that a message has gone with one recipient: "offered by turn". */
  async steps(id: string, agent: string): Promise<string[]> {
    const { recipients } = await this.status(id);
    const steps = recipients.find((one) => one.agent === agent)?.steps ?? [];
    return steps.map(({ step, route }) => (route ? `${step} by ${route}` : step));
  }
}

const order = ({ id }: MessageView): number => Number.parseInt(id.slice(1), 36);
