import type { BusClient } from '../../../src/client/busClient.ts';
import type { EditorServer } from '../../support/editor/editorServer.ts';
import type { EditorWindow } from '../../support/editor/editorWindow.ts';
import { until } from '../../support/hubProcess.ts';

/** An idle chat of Copilot on a scripted model: how long until something that was submitted is in front of the model. */
export class WakeProbe {
  private readonly editor: EditorServer;
  private readonly window: EditorWindow;
  private turns = 0;

  constructor(editor: EditorServer, window: EditorWindow) {
    this.editor = editor;
    this.window = window;
    editor.model.script(window.folder, () => ({ say: 'Understood.' }));
  }

  /** The floor: VS Code's own command submits the turn. */
  async submitted(): Promise<number> {
    const word = this.word();
    const began = performance.now();
    const turn = this.window.chat.submit(`Say that you have understood ${word}.`);
    const took = await this.seen(word, began);
    await turn;
    return took;
  }

  /** A request is stored; the hub and the window do the rest. */
  async woken(sender: BusClient, agent: string): Promise<number> {
    const word = this.word();
    const { id } = (await sender.call('send', { to: agent, kind: 'request', text: `Have you understood ${word}?` }))
      .data;
    const took = await this.seen(word, performance.now());
    await sender.call('status', { id, cancel: true });
    return took;
  }

  private word(): string {
    return `qx${(++this.turns).toString(36)}bench`;
  }

  private async seen(word: string, began: number): Promise<number> {
    await until(`the model was told ${word}`, () => this.editor.model.turns.some(({ text }) => text.includes(word)));
    return performance.now() - began;
  }
}
