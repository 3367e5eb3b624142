/** MCP over stdin and stdout, for products that start their servers themselves. */
import type { Readable, Writable } from 'node:stream';
import { isJSONRPCResultResponse, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createBusServer, type BusServerOptions, type CallWire, type McpFace } from './mcpServer.ts';

/** Room for the largest message there is, JSON-escaped, and then some. */
const lineBytes = 16 * 1_048_576;

export interface McpStdioOptions {
  /** The client has closed its end, or close() was called. */
  onClose?: () => void;
  onError?: (error: unknown) => void;
  stdin?: Readable;
  stdout?: Writable;
  beat?: BusServerOptions['beat'];
}

export function serveMcpStdio(face: McpFace, options: McpStdioOptions = {}): { close(): Promise<void> } {
  const wire = new StdioWire(
    options.stdin ?? process.stdin,
    options.stdout ?? process.stdout,
    options.onClose ?? (() => {}),
  );
  return serveStdio(() => createBusServer(face, { wireOf: () => wire, ...(options.beat && { beat: options.beat }) }), {
    transport: wire,
    onerror: (error) => options.onError?.(error),
  });
}

class StdioWire extends StdioServerTransport implements CallWire {
  private readonly waiting = new Map<RequestId, () => void>();
  private readonly out: Writable;
  private onClosed: (() => void) | undefined;

  constructor(stdin: Readable, stdout: Writable, onClosed: () => void) {
    super(stdin, stdout, { maxBufferSize: lineBytes });
    this.out = stdout;
    this.onClosed = onClosed;
  }

  onHandedOver(id: RequestId, done: () => void): void {
    this.waiting.set(id, done);
  }

  abandon(id: RequestId): void {
    this.waiting.delete(id);
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    const sent = super.send(message);
    if ('id' in message && message.id !== undefined && !('method' in message)) this.report(message.id, message);
    await sent;
  }

  override async close(): Promise<void> {
    await super.close();
    const closed = this.onClosed;
    this.onClosed = undefined;
    closed?.();
  }

  /** Writes are flushed in order: when an empty one is through, the answer before it is too. */
  private report(id: RequestId, message: JSONRPCMessage): void {
    const done = this.waiting.get(id);
    this.waiting.delete(id);
    if (!done || !isJSONRPCResultResponse(message)) return;
    this.out.write('', (error) => {
      if (!error) done();
    });
  }
}
