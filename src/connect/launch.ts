/** How other programs start us: the stable launcher, as an argument list for MCP and as a line of shell for hooks. */
import { dirname, join } from 'node:path';

export class Launch {
  readonly launcher: string;
  private readonly windows: boolean;
  private readonly bin: string;

  constructor(bin: string, platform: NodeJS.Platform = process.platform) {
    this.windows = platform === 'win32';
    this.bin = bin;
    this.launcher = join(bin, this.windows ? 'agent-bus.cmd' : 'agent-bus');
  }

  /** The folder of the bus itself. */
  get data(): string {
    return dirname(this.bin);
  }

  server(...args: string[]): { command: string; args: string[] } {
    return this.program('mcp', ...args);
  }

  /** Not every product can start a .cmd file by itself. */
  program(...args: string[]): { command: string; args: string[] } {
    if (this.windows) return { command: 'cmd', args: ['/c', this.launcher, ...args] };
    return { command: this.launcher, args };
  }

  /** For sh; on Windows that is Git Bash, which has a launcher of its own beside the other. */
  shell(...args: string[]): string {
    return [quoted(join(this.bin, 'agent-bus').replaceAll('\\', this.windows ? '/' : '\\')), ...args].join(' ');
  }

  powershell(...args: string[]): string {
    return [`& '${join(this.bin, 'agent-bus.cmd').replaceAll("'", "''")}'`, ...args].join(' ');
  }

  /** For products that run hooks in PowerShell on Windows and in sh elsewhere. */
  native(...args: string[]): string {
    return this.windows ? this.powershell(...args) : this.shell(...args);
  }
}

/** Whether a line of a product's configuration is a hook of ours, whatever launcher it names. */
export function isOwnHook(line: unknown, product: string): boolean {
  if (typeof line !== 'string') return false;
  const own = /(?:^|[\\/'"\s])agent-bus(?:\.cmd)?['"]?\s+(?:hook\s+([a-z]+)\s+[A-Za-z]+|wait\s+--hook\s+([a-z]+))\s*$/;
  const found = own.exec(line);
  return (found?.[1] ?? found?.[2]) === product;
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
