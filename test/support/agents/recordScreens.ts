/**
 * Records what the real products write to a terminal in the scenes that typing has to tell apart, for
 * test/unit/prompts.test.ts: `node test/support/agents/recordScreens.ts [product…]`. To be run, and its result looked
 * at, whenever a product's version is changed.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Size } from '../../../src/extension/window/terminals/emulator.ts';
import { AgentRoom } from './agentRoom.ts';
import type { Product } from './agentProduct.ts';
import { allProducts } from './allProducts.ts';
import { asks, askingLaunch, askingStep } from './asking.ts';
import type { Step } from './modelWire.ts';
import { PtyTerminal } from './ptyTerminal.ts';
import { screensFolder, type Recording, type Scene } from './recordedScreens.ts';

/** A terminal of its own, and one in a panel of the editor, where products leave things out. */
const sizes: Record<string, Size> = { '': { cols: 90, rows: 30 }, '-small': { cols: 73, rows: 16 } };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

class Recorder {
  private readonly room: AgentRoom;
  private readonly product: Product;
  private readonly terminal: PtyTerminal;
  private readonly scenes: Scene[] = [];
  private done = 0;

  constructor(room: AgentRoom, product: Product, terminal: PtyTerminal) {
    this.room = room;
    this.product = product;
    this.terminal = terminal;
  }

  async run(): Promise<Recording> {
    const { terminal, room, product } = this;
    await terminal.shows(product.ready);
    if (product.name === 'codex') {
      // It shows a prompt before it takes one.
      await this.scene('starting');
      await terminal.shows('scripted default');
    }
    await sleep(10_000);
    await this.scene('idle', '');
    await this.type('h', 'one letter', 'h');
    await this.type('alf a draft', 'a draft', 'half a draft');
    await this.type('\x1b[H', 'a draft, with the cursor at its beginning', 'half a draft');
    await this.type('\x1b[F', 'a draft, with the cursor behind it', 'half a draft');
    await this.type('\x7f'.repeat(12), 'an erased draft', '');
    await this.type(' ', 'a space', ' ');
    await this.type('\x7f', 'an erased space', '');
    await this.type('/', 'commands to choose from');
    await this.type('\x7f', 'no command', '');
    if (product.name !== 'gemini') {
      await this.type('!', 'shell mode');
      await this.type('\x7f', 'out of shell mode', '');
    }
    await this.type('\x1b[200~one\ntwo\n\nthree\x1b[201~', 'several lines');
    await this.type('\x7f'.repeat(30), 'erased lines', '');

    const held = Promise.withResolvers<void>();
    room.model.followSteps(() => held.promise.then((): Step => ({ say: 'Hello there.' })), askingStep(product), {
      say: 'It is done.',
    });
    await this.submit('Say hello');
    await sleep(3_000);
    await this.scene('busy');
    await this.type('while busy', 'a draft while busy');
    await this.type('\x7f'.repeat(10), 'busy again');
    held.resolve();
    await terminal.shows('Hello there.');
    await sleep(1_500);
    await this.scene('after a turn', '');
    await this.submit('Touch a file');
    await terminal.shows(asks);
    await sleep(1_500);
    await this.scene('an approval');
    await this.type('\r', 'approved');
    await terminal.shows('It is done.');
    await sleep(1_500);
    await this.scene('after an approval', '');
    await this.type('/model', 'a command');
    await this.type('\r', 'a menu');
    return { size: this.terminal.size, scenes: this.scenes };
  }

  private async type(text: string, name: string, typed?: string): Promise<void> {
    this.terminal.send(text);
    await sleep(1_500);
    if (name !== 'approved') await this.scene(name, typed);
  }

  private async submit(text: string): Promise<void> {
    this.terminal.send(text);
    await sleep(1_500);
    this.terminal.send('\r');
  }

  private async scene(name: string, typed?: string): Promise<void> {
    const { output } = this.terminal;
    const data = output.slice(this.done).replaceAll(this.room.workspace, neutral(this.room.workspace));
    this.done = output.length;
    this.scenes.push({ name, ...(typed !== undefined && { typed }), data });
    console.log(`\n=== ${name}\n${await this.terminal.text()}`);
  }
}

/** Of the same length, so that the screen stays as it is. */
function neutral(path: string): string {
  return `/home/ann/${'code/'.repeat(20)}`.slice(0, path.length - '/shop-api'.length) + '/shop-api';
}

async function record(product: Product, suffix: string, size: Size): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    const room = await AgentRoom.open({ after: (end) => ends.push(end as () => unknown) });
    product.configure(room, {});
    const terminal = PtyTerminal.open(askingLaunch(product, room), size);
    ends.push(() => terminal.end());
    const recording = await new Recorder(room, product, terminal).run();
    fs.mkdirSync(screensFolder, { recursive: true });
    const file = join(screensFolder, `${product.agent}${suffix}.json.gz`);
    fs.writeFileSync(file, gzipSync(JSON.stringify(recording), { level: 9 }));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

const wanted = process.argv.slice(2);
for (const product of allProducts.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  for (const [suffix, size] of Object.entries(sizes)) await record(product, suffix, size);
}
