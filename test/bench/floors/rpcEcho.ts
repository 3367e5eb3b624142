/** An echo over vscode-jsonrpc, and over our own framing: why the hub has its own. */
import { connect, createServer, type Socket } from 'node:net';
import { createMessageConnection, SocketMessageReader, SocketMessageWriter } from 'vscode-jsonrpc/node';
import { Peer } from '../../../src/protocol/peer.ts';
import { loop, type Probe } from '../rounds.ts';
import { listen, startFloor } from '../support/floorServer.ts';
import { nextText } from '../support/texts.ts';

export async function serve(): Promise<number> {
  const ours = await listen(
    createServer(
      { noDelay: true },
      (socket) => void new Peer(socket, { handlers: { onRequest: (_, params) => params } }),
    ),
  );
  const library = createServer({ noDelay: true }, (socket) => {
    const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
    connection.onRequest('echo', (params: unknown) => params);
    connection.onRequest('ours', () => ours);
    connection.onError(() => undefined);
    connection.listen();
  });
  return listen(library);
}

export async function rpcEcho(owned: AsyncDisposableStack, inFlight: readonly number[], ms?: number): Promise<Probe[]> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  const socket = await dial(server.port);
  owned.defer(() => void socket.destroy());
  const library = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
  library.listen();
  const peer = new Peer(await dial(await library.sendRequest<number>('ours')));
  owned.defer(() => peer.close());
  return inFlight.flatMap((count) => [
    loop(`floor_own_rpc_echo_${count}`, count, () => peer.request('echo', { text: nextText() }), ms),
    loop(`floor_vscode_jsonrpc_echo_${count}`, count, () => library.sendRequest('echo', { text: nextText() }), ms),
  ]);
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}
