/** A throw-away home folder and project, in which the real `agent-bus` connects products. */
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { Cli, type CliResult, type Parsed } from './cliProcess.ts';
import { tempFolder } from './tempFolder.ts';

export class ConnectRoom {
  readonly cli: Cli;
  readonly home: string;
  readonly project: string;

  constructor(t: TestContext) {
    this.cli = new Cli(t);
    const folder = tempFolder(t);
    this.home = join(folder, 'home of mine');
    this.project = join(folder, 'shop');
    fs.mkdirSync(this.home);
    fs.mkdirSync(this.project);
  }

  /** Nothing of the machine's own products gets in. */
  get env(): Record<string, string> {
    const none = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME', 'GEMINI_CLI_HOME', 'CLAUDE_CODE_SESSION_ID'];
    return { HOME: this.home, USERPROFILE: this.home, ...Object.fromEntries(none.map((name) => [name, ''])) };
  }

  run(...args: string[]): Promise<CliResult> {
    return this.cli.run(args, { env: this.env, cwd: this.project });
  }

  async ok(...args: string[]): Promise<string> {
    const { code, text, error } = await this.run(...args);
    if (code !== 0) throw new Error(`agent-bus ${args.join(' ')} ended with ${code}: ${text}${error}`);
    return text;
  }

  async json(...args: string[]): Promise<Parsed> {
    return JSON.parse(await this.ok(...args, '--json'));
  }

  write(path: string, text: string | Uint8Array): string {
    const full = join(this.home, path);
    fs.mkdirSync(dirname(full), { recursive: true });
    fs.writeFileSync(full, text);
    return full;
  }

  read(path: string): string {
    return fs.readFileSync(join(this.home, path), 'utf8');
  }

  /** Every file and link of home and project, with its content. */
  snapshot(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const root of [this.home, this.project]) {
      for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isSymbolicLink()) found[path] = `-> ${fs.readlinkSync(path)}`;
        else if (entry.isFile()) found[path] = `${fs.statSync(path).mode} ${fs.readFileSync(path, 'latin1')}`;
        else found[path] = 'a folder';
      }
    }
    return found;
  }
}
