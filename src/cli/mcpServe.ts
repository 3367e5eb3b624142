import { version } from '../hub/version.ts';
import { instructions, listTools } from '../tools/table.ts';
import { serveMcpStdio } from '../transports/mcp/mcpStdio.ts';
import type { McpBridge } from './mcpBridge.ts';

/**
 * MCP on stdin and stdout, until the client hangs up. Everything heavy that the command line has, the protocol and the
 * schemas, is behind this file: it is loaded for `agent-bus mcp` only.
 */
export function mcpServe(bridge: McpBridge, onError: (error: unknown) => void): Promise<void> {
  return new Promise((onClose) => {
    process.stdout.on('error', () => onClose());
    const face = {
      info: { name: 'agent-bus', version },
      instructions,
      tools: listTools(),
      call: bridge.call.bind(bridge),
      delivered: bridge.delivered.bind(bridge),
    };
    serveMcpStdio(face, { onClose, onError });
  });
}
