// Takes the walkthrough's pictures, light and dark, from a real editor with a real hub: `node scripts/walkthroughPictures.mjs`.
// Run it after the views have changed; the pictures are part of the repository. Only the model behind Copilot is scripted.
// `node scripts/walkthroughPictures.mjs terminal …` takes the pictures of these steps only.
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BusClient } from '../src/client/busClient.ts';
import { applyChanges } from '../src/connect/applyPlan.ts';
import { placeAt } from '../src/connect/placeAt.ts';
import { planConnect } from '../src/connect/plan.ts';
import { products } from '../src/connect/products/table.ts';
import { busHome } from '../src/hub/home.ts';
import { EditorServer } from '../test/support/editor/editorServer.ts';
import { until } from '../test/support/hubProcess.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'media', 'walkthrough');
mkdirSync(folder, { recursive: true });

const steps = ['inbox', 'message', 'terminal', 'copilot', 'permissions'];
const chosen = process.argv.slice(2);
const unknown = chosen.filter((step) => !steps.includes(step));
if (unknown.length > 0) throw new Error(`No step is called ${unknown.join(', ')}. There are: ${steps.join(', ')}.`);
const isWanted = (...names) => chosen.length === 0 || names.some((name) => chosen.includes(name));

const editor = await EditorServer.start({ viewport: { width: 1180, height: 700 } });
try {
  const window = await editor.open('shop-web');
  const { page } = window;
  const agents = await people();
  await talk(agents);

  await window.command('agentBus.openInbox');
  await (await window.sidebar()).getByText('shop-api-claude').first().waitFor();
  await picture('inbox', ['.part.activitybar', '.part.sidebar'], 470);

  await agents.api.call('send', {
    to: 'person',
    reply_to: agents.asked,
    text: 'Yes: `GET /orders` pages by cursor now, 50 at a time. Tests are green.',
  });
  void window.command('agentBus.openConversation').catch(() => undefined);
  await page.locator('.quick-input-widget .monaco-list-row', { hasText: 'shop-api-claude' }).first().click();
  await (await window.sidebar()).getByText('pages by cursor now').filter({ visible: true }).first().waitFor();
  await picture('message', ['.part.activitybar', '.part.sidebar']);

  someProducts();
  void window.command('agentBus.connectAgent').catch(() => undefined);
  await page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Gemini CLI' }).first().waitFor();
  await picture('terminal', ['.quick-input-widget'], undefined, 28);
  await page.keyboard.press('Escape');

  if (isWanted('copilot', 'permissions')) await copilotAndPermissions();

  async function copilotAndPermissions() {
    await window.chat.enable();
    await until('the tools are there', () =>
      window.evaluate(async (vscode) => {
        await vscode.commands.executeCommand('workbench.mcp.startServer', 'agent-bus.agent-bus/Agent Bus');
        return vscode.lm.tools.some(({ name }) => name.startsWith('mcp_agent'));
      }),
    );
    editor.model.script(window.folder, ({ results }) =>
      results.length === 0
        ? { call: 'agents' }
        : {
            say: 'Three others are on the bus, and I am **shop-web-copilot**:\n\n- **shop-api-claude** works on the orders API\n- **docs-codex** keeps the handbook\n- and you',
          },
    );
    await window.chat.start('Who is on the bus, and who am I there?');
    await window.chat.responseWith('and you');
    // Without the lower part, where the editor advertises.
    await picture('copilot', ['.part.auxiliarybar'], 380);

    void agents.api.call('send', {
      to: 'shop-web-copilot',
      kind: 'request',
      text: 'Which fields of an order does the cart page use?',
    });
    await page.locator('.notifications-toasts .notification-list-item', { hasText: 'wake' }).first().waitFor();
    await picture('permissions', ['.notifications-toasts .notification-toast-container'], undefined, 28);
  }

  /** Agents that are there for as long as the pictures are taken. */
  async function people() {
    const home = busHome({ AGENT_BUS_HOME: editor.busHome });
    const join = (workspace, product, about) =>
      until(`${product} is on the bus`, async () => {
        const attach = { workspace: `/projects/${workspace}`, product };
        const client = await BusClient.connect({ home, start: false, via: 'rpc', version: '0.0.1', attach }).catch(
          () => undefined,
        );
        await client?.call('register', { about });
        return client;
      });
    return {
      api: await join('shop-api', 'claude', 'Works on the orders API'),
      docs: await join('docs', 'codex', 'Keeps the handbook'),
      person: await BusClient.connect({ home, start: false, via: 'rpc', version: '0.0.1', passing: true }),
    };
  }

  /** As on a machine on which one product is connected already. */
  function someProducts() {
    const home = join(editor.folder, 'home');
    for (const product of ['.codex', '.gemini', '.copilot']) mkdirSync(join(home, product), { recursive: true });
    const place = placeAt(window.folder, join(editor.busHome, 'bin'), { HOME: home, USERPROFILE: home });
    const { claude: product } = products;
    mkdirSync(product.folder(place), { recursive: true });
    applyChanges(planConnect({ product, place, scope: 'user', hooks: true }).changes);
  }

  async function talk(agents) {
    const { api, docs, person } = agents;
    await docs.call('channel', { action: 'create', name: 'release' });
    await api.call('channel', { action: 'join', name: 'release' });
    await docs.call('send', { to: '#release', text: 'The notes for 2.4 are written. Main is frozen until Thursday.' });
    const { data } = await person.call('send', {
      to: api.agent,
      kind: 'request',
      text: 'Does `GET /orders` page by cursor yet? The web shop waits for it.',
    });
    agents.asked = data.id;
    await api.call('inbox', {}).then(({ shown }) => api.shown(shown));
    await docs.call('send', {
      to: 'person',
      kind: 'request',
      text: 'May I publish the handbook for 2.4?',
      options: ['Publish', 'Wait'],
    });
    await pause(500);
  }

  /** One picture of the area that these parts cover, in both themes. */
  async function picture(name, parts, height, margin = 0) {
    if (!isWanted(name)) return;
    for (const theme of ['light', 'dark']) {
      await window.setTheme(theme);
      await page.mouse.move(600, 690);
      await pause(700);
      const boxes = await Promise.all(parts.map((part) => page.locator(part).first().boundingBox()));
      const x = Math.max(0, Math.min(...boxes.map((box) => box.x)) - margin);
      const y = Math.max(0, Math.min(...boxes.map((box) => box.y)) - margin);
      const right = Math.max(...boxes.map((box) => box.x + box.width)) + margin;
      const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + margin;
      const clip = {
        x,
        y,
        width: Math.min(right, 1180) - x,
        height: Math.min(height ?? bottom - y, Math.min(bottom, 700) - y),
      };
      await page.screenshot({ path: join(folder, `${name}-${theme}.png`), clip });
    }
    await window.setTheme('light');
    console.log(`media/walkthrough/${name}-{light,dark}.png`);
  }
} finally {
  await editor.dispose();
}
process.exit();
