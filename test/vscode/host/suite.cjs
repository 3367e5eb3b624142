// Runs inside an extension host: of desktop VS Code (scripts/desktop.mjs), or of any editor that takes extensionTestsPath.
// No framework: run() rejects with all that failed. CommonJS, since that is what every VS Code can load.
const assert = require('node:assert/strict');
const vscode = require('vscode');

const id = 'agent-bus.agent-bus';
const patienceMs = 30_000;

const tests = {
  async 'activates fast and never throws'() {
    const extension = vscode.extensions.getExtension(id);
    assert.ok(extension, 'the extension is not installed');
    const exports = await extension.activate();
    console.log(`activated in ${exports.activationMs.toFixed(1)} ms`);
    assert.ok(exports.activationMs < 200, `${exports.activationMs} ms`);
  },

  async 'has all of its commands'() {
    const { contributes } = vscode.extensions.getExtension(id).packageJSON;
    const known = await vscode.commands.getCommands(true);
    for (const { command } of contributes.commands) assert.ok(known.includes(command), command);
  },

  async 'has keys that VS Code does not use itself'() {
    const { contributes } = vscode.extensions.getExtension(id).packageJSON;
    const table = await vscode.workspace.openTextDocument(
      vscode.Uri.parse('vscode://defaultsettings/keybindings.json'),
    );
    const entries = [...table.getText().matchAll(/"key":\s*"([^"]+)",\s*"command":\s*"([^"]+)"/g)];
    assert.ok(entries.length > 100, 'the table of default keys could not be read');
    const own = new Set(contributes.keybindings.map(({ key }) => key));
    const prefixes = new Set([...own].map((key) => key.split(' ')[0]));
    for (const [, key, command] of entries) {
      if (command.startsWith('agentBus.')) continue;
      assert.ok(!own.has(key) && !prefixes.has(key), `${key} is ${command}`);
    }
  },

  async 'opens its view'() {
    await vscode.commands.executeCommand('agentBus.openInbox');
  },

  async 'offers its tools to chats'() {
    const known = await vscode.commands.getCommands(true);
    // Not documented: where it is not there, a chat starts the server with its first message.
    if (!known.includes('workbench.mcp.startServer')) return;
    const offered = () => vscode.lm.tools.some(({ name }) => /^mcp_agent.bus_inbox$/.test(name));
    for (const end = Date.now() + patienceMs / 2; !offered() && Date.now() < end; await pause(500)) {
      await vscode.commands.executeCommand('workbench.mcp.startServer', `${id}/Agent Bus`).then(undefined, () => {});
    }
    assert.ok(offered(), 'the tools of the bus are not among the tools of the editor');
  },

  async 'reads its settings from the user only'() {
    const settings = vscode.workspace.getConfiguration('agentBus');
    for (const name of ['notifications', 'autoStart', 'confirmTools']) {
      const { workspaceValue, defaultValue } = settings.inspect(name) ?? {};
      assert.equal(workspaceValue, undefined, name);
      assert.notEqual(defaultValue, undefined, name);
    }
  },
};

exports.run = async () => {
  const failures = [];
  for (const [name, test] of Object.entries(tests)) {
    try {
      await Promise.race([test(), tooLong(name)]);
      console.log(`✔ ${name}`);
    } catch (error) {
      console.log(`✖ ${name}: ${error.stack ?? error}`);
      failures.push(`${name}: ${error.message ?? error}`);
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} failed\n${failures.join('\n')}`);
};

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function tooLong(name) {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`${name} took more than ${patienceMs / 1000} s`)), patienceMs).unref?.();
  });
}
