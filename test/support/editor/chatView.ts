/** Copilot's chat in one window: what a person does there, and what a person sees. */
import type { Locator } from 'playwright-core';
import { until } from '../hubProcess.ts';
import { editorPatienceMs } from './editorTools.ts';
import type { EditorWindow } from './editorWindow.ts';

/** How a submitted turn ended, as VS Code's own command tells it. */
export interface TurnEnd {
  /** `confirmation` when a question to the person is open. */
  type?: 'confirmation';
  toolId?: string;
  errorDetails?: { message: string };
  metadata?: { sessionId: string; renderedUserMessage?: unknown };
}

export class ChatView {
  private readonly window: EditorWindow;

  constructor(window: EditorWindow) {
    this.window = window;
  }

  /** Copilot starts disabled where nobody has signed in. Enabled, it finds the scripted model. */
  async enable(): Promise<void> {
    const { window } = this;
    await window.evaluate(async (api) => {
      const copilot = 'GitHub.copilot-chat';
      if (api.extensions.getExtension(copilot)) return;
      await api.commands.executeCommand('workbench.extensions.installExtension', copilot, { enable: true });
    });
    const hasModel = () =>
      window.evaluate(async (api) => {
        const copilot = api.extensions.getExtension('GitHub.copilot-chat');
        if (!copilot) return false;
        await copilot.activate();
        return (await api.lm.selectChatModels({ vendor: 'customendpoint' })).length > 0;
      });
    await until('Copilot has found the scripted model', hasModel, editorPatienceMs);
  }

  /** Submits a prompt and waits until the turn has ended or asks the person something. */
  submit(query: string): Promise<TurnEnd> {
    const options = { query, mode: 'agent', preserveInput: true, blockOnResponse: true };
    return this.window.command<TurnEnd>('workbench.action.chat.open', options);
  }

  /** Submits a prompt and does not wait for the answer. */
  async start(query: string): Promise<void> {
    await this.window.command('workbench.action.chat.open', { query, mode: 'agent', preserveInput: true });
  }

  /** Types into the input and leaves it there. */
  async draft(text: string): Promise<void> {
    await this.window.command('workbench.action.chat.open');
    await this.input.click();
    await this.window.page.keyboard.insertText(text);
    await until('the draft is in the input', async () => (await this.draftText()) === text);
  }

  /** What stands in the input. */
  async draftText(): Promise<string> {
    return plain(await this.input.locator('.view-lines').innerText());
  }

  /** The text of the newest answer, as it is shown. */
  lastResponse(): Promise<string> {
    return this.part.locator('.interactive-response .value').last().innerText();
  }

  /** The newest answer, once it contains this. */
  async responseWith(text: string): Promise<string> {
    const { page } = this.window;
    const response = page.locator('.interactive-response').filter({ hasText: text }).last();
    await response.waitFor();
    return response.innerText();
  }

  /** What was submitted, as it is shown; only rows on the screen. */
  requests(): Promise<string[]> {
    return this.part.locator('.interactive-request .value').allInnerTexts();
  }

  /** The open question to the person, if there is one: its text. */
  async confirmation(): Promise<string | undefined> {
    const open = this.openConfirmation;
    return (await open.count()) > 0 ? plain(await open.first().innerText()) : undefined;
  }

  /** Waits for a question and clicks the button of this name, such as "Skip" or "Allow in this Session". */
  async answer(button: string): Promise<void> {
    const open = this.openConfirmation.first();
    await open.locator('.monaco-button').filter({ hasText: button, visible: true }).first().click();
  }

  cancel(): Promise<unknown> {
    return this.window.command('workbench.action.chat.cancel');
  }

  newChat(): Promise<unknown> {
    return this.window.command('workbench.action.chat.newChat');
  }

  private get part(): Locator {
    return this.window.page.locator('.interactive-session');
  }

  private get input(): Locator {
    return this.window.page.locator('.interactive-input-part .monaco-editor').first();
  }

  /** There may be another one in a part of the list that is not shown. */
  private get openConfirmation(): Locator {
    const skip = this.window.page.locator('.monaco-button').filter({ hasText: /^(Skip|Cancel)$/, visible: true });
    return this.window.page.locator('.chat-confirmation-widget2').filter({ has: skip, visible: true });
  }
}

/** Editors show spaces that don't break. */
function plain(text: string): string {
  return text.replaceAll('\u00a0', ' ').trim();
}
