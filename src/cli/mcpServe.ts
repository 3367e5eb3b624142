import { version } from '../hub/version.ts';
import { instructions, listTools } from '../tools/table.ts';
import { serveMcpStdio } from '../transports/mcp/mcpStdio.ts';
import { BridgeCarrier } from './bridgeCarrier.ts';
import { isKnownAtStart, livesInTerminal, McpBridge, sessionOf, type BridgeOptions } from './mcpBridge.ts';

/**
 * MCP on stdin and stdout, until the client hangs up. Everything heavy that the command line has, the protocol and the
 * schemas, is behind this file: it is loaded for `agent-bus mcp` only, and shares no object with the rest.
 */
export async function mcpServe(options: BridgeOptions, onError: (error: unknown) => void): Promise<void> {
  const bridge = new McpBridge(options);
  // Whose session it is may be unknown before the first call. Where it is known, the agent is there from the start.
  const { agent, product = '' } = options;
  if (agent !== undefined || isKnownAtStart(product)) bridge.connect(product, sessionOf(product)).catch(onError);
  let carrier: BridgeCarrier | undefined;
  bridge.onSession = (caller, chat) => {
    if (carrier) carrier.isOf(chat);
    else if (livesInTerminal(caller)) {
      carrier = new BridgeCarrier({ ...options, product: caller, chat });
      carrier.start().catch(onError);
    }
  };
  if (product !== '') bridge.onSession(product, sessionOf(product));
  const face = {
    info: { name: 'agent-bus', version },
    instructions,
    tools: listTools(),
    call: bridge.call.bind(bridge),
    delivered: bridge.delivered.bind(bridge),
  };
  await new Promise<void>((onClose) => {
    process.stdout.on('error', () => onClose());
    serveMcpStdio(face, { onClose, onError });
  });
  carrier?.close();
  bridge.close();
}
