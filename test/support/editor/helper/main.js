// Runs in the extension host of each window of a test: evaluates functions of the test with VS Code's API at hand.
// It says where it listens in a file of the folder AGENT_BUS_TEST_CHANNEL, one per extension host.
const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const vscode = require('vscode');

exports.activate = (context) => {
  const channel = process.env.AGENT_BUS_TEST_CHANNEL;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!channel || !folder) return;
  const token = randomBytes(16).toString('hex');
  const record = path.join(channel, `${process.pid}.json`);

  const server = http.createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(403).end();
    answer(request).then(
      (value) => response.end(JSON.stringify({ value: value === undefined ? null : value })),
      (error) => response.end(JSON.stringify({ error: String(error?.stack ?? error) })),
    );
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1', () => {
    const draft = `${record}.draft`;
    fs.writeFileSync(draft, JSON.stringify({ pid: process.pid, port: server.address().port, token, folder }));
    fs.renameSync(draft, record);
  });
  context.subscriptions.push({
    dispose: () => {
      fs.rmSync(record, { force: true });
      server.close();
      server.closeAllConnections();
    },
  });
};

async function answer(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { source, argument } = JSON.parse(text);
  const run = new Function('vscode', 'argument', `return (${source})(vscode, argument);`);
  const value = await run(vscode, argument);
  // What can't be written as JSON fails here, inside the promise.
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? 'null');
}
