import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PromptLook } from '../../src/extension/window/terminals/promptLook.ts';
import { prompts } from '../../src/extension/window/terminals/prompts/table.ts';
import { TypeLine, type Typed } from '../../src/extension/window/terminals/typeLine.ts';
import { whyNotType } from '../../src/extension/window/terminals/whyNotType.ts';
import type { Product } from '../support/agents/agentProduct.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { allProducts } from '../support/agents/allProducts.ts';
import { asks, askingLaunch, askingStep } from '../support/agents/asking.ts';
import { PtyTerminal } from '../support/agents/ptyTerminal.ts';
import { until } from '../support/hubProcess.ts';

const draft = 'half a draft';
/** As the hub writes it: longer than a row of the terminal. */
const line = (token: number) =>
  `[Agent Bus] 1 message waits for you, from ann: read with the bus tool inbox, then answer. (wake-${String(token).padStart(22, '0')})`;

for (const product of allProducts) {
  describe(`typing into ${product.name}`, () => {
    test('a line is sent off from an idle and empty prompt, and never beside a draft, a turn or a question', async (t) => {
      const room = await AgentRoom.open(t);
      product.configure(room, {});
      const session = new Session(product, room);
      t.after(() => session.terminal.end());
      await session.run();
      assert.deepEqual(room.model.faults, []);
    });
  });
}

class Session {
  readonly terminal: PtyTerminal;
  private readonly product: Product;
  private readonly room: AgentRoom;

  constructor(product: Product, room: AgentRoom) {
    this.product = product;
    this.room = room;
    this.terminal = PtyTerminal.open(askingLaunch(product, room));
  }

  async run(): Promise<void> {
    const { terminal, product } = this;
    const { model } = this.room;
    const held = Promise.withResolvers<void>();
    model.followSteps(() => held.promise.then(() => ({ say: 'The first one is done.' })), askingStep(product), {
      say: 'The second one is done.',
    });
    await this.free();

    terminal.send(draft);
    await this.looks(`shows "${draft}"`, ({ typed }) => typed === draft);
    await this.refuses(line(1), /^something is typed in its prompt$/);
    assert.equal((await this.look())?.typed, draft, 'the draft is as it was');
    terminal.send('\x7f'.repeat(draft.length));
    await this.free();

    assert.deepEqual(await this.type(line(2)), { sent: true });
    const first = await model.hears(line(2));
    assert.equal(first.number, 1, 'nothing was sent before it');
    await this.looks('shows that it works', ({ busy }) => busy);
    // While it draws itself anew there may be no prompt for a moment.
    await this.refuses(line(3), /^it is at work$|^no prompt of its product/);
    held.resolve();
    await terminal.shows('The first one is done.');
    await this.free();

    assert.deepEqual(await this.type(line(4)), { sent: true });
    const second = await model.hears(line(4));
    await terminal.shows(asks);
    await this.refuses(line(5), /^no prompt of its product is on its screen$/);
    await terminal.shows(asks);
    assert.equal(model.turns.length, second.number, 'what it asks is still open');
    await this.approve('The second one is done.');
    await this.free();
    assert.ok(!model.turns.some(({ text }) => [1, 3, 5].some((token) => text.includes(line(token)))));
  }

  /** A key right after a question has appeared is not taken for its answer by some. */
  private async approve(end: string): Promise<void> {
    const { terminal } = this;
    await until(`"${end}" is on the screen`, async () => {
      if (asks.test(await terminal.text())) terminal.send('\r');
      return terminal.shows(end, 2_000).then(
        () => true,
        () => false,
      );
    });
  }

  private async refuses(text: string, why: RegExp): Promise<void> {
    const { sent, note } = await this.type(text);
    assert.equal(sent, false);
    assert.match(note ?? '', why);
  }

  private type(text: string): Promise<Typed> {
    const send = (keys: string) => this.terminal.send(keys);
    return new TypeLine({ look: () => this.look(), send }, text).run();
  }

  private free(): Promise<unknown> {
    return this.looks('is idle and empty', (look) => whyNotType(look) === undefined);
  }

  private async looks(what: string, isSo: (look: PromptLook) => boolean): Promise<void> {
    const isThere = async () => {
      const look = await this.look();
      return look !== undefined && isSo(look);
    };
    await until(`its prompt ${what}`, isThere).catch(async (error: unknown) => {
      throw new Error(`${(error as Error).message}; it shows\n${await this.terminal.text()}`);
    });
  }

  private async look(): Promise<PromptLook | undefined> {
    return prompts.get(this.product.agent)?.(await this.terminal.screen());
  }
}
