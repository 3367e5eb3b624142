import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Process {
  pid: number;
  /** Its program's file, as far as the system tells. */
  program: string;
  command: string;
}

interface Row extends Process {
  parent: number;
}

/** Deeper than any terminal starts anything. */
const mostDeep = 40;
const listMs = 20_000;

/**
 * Who has started this process, the nearest first: in which terminal a session lives is known by that. What the system
 * does not tell is left out; nobody fails for it.
 */
export async function ancestors(pid: number = process.ppid, platform = process.platform): Promise<Process[]> {
  const look = platform === 'linux' ? fromProc : inTable(await table(platform).catch(() => []));
  const found: Process[] = [];
  for (let next = pid; next > 1 && found.length < mostDeep;) {
    const row = await look(next);
    if (!row || found.some((known) => known.pid === row.pid)) break;
    found.push({ pid: row.pid, program: row.program, command: row.command });
    next = row.parent;
  }
  return found;
}

async function fromProc(pid: number): Promise<Row | undefined> {
  const text = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [stat, line, program] = await Promise.all([
    text('stat'),
    text('cmdline'),
    readlink(`/proc/${pid}/exe`).catch(() => ''),
  ]);
  // The second field is a name in parentheses, which may hold anything.
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return Number.isInteger(parent) ? { pid, parent, program, command: line.split('\0').join(' ').trim() } : undefined;
}

function inTable(rows: readonly Row[]): (pid: number) => Promise<Row | undefined> {
  return async (pid) => rows.find((row) => row.pid === pid);
}

/** Where there is no /proc one list of all processes is cheaper than asking for each. */
async function table(platform: NodeJS.Platform): Promise<Row[]> {
  return platform === 'win32' ? windowsTable() : psTable(await run('ps', ['-axo', 'pid=,ppid=,command='], quietly));
}

const quietly = { timeout: listMs, maxBuffer: 64 * 1024 * 1024, windowsHide: true };

export function psTable({ stdout }: { stdout: string }): Row[] {
  return stdout.split('\n').flatMap((line): Row[] => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    // What comes before the first option or argument; a program with spaces in its path is not told apart.
    return pid ? [{ pid: Number(pid), parent: Number(parent), program: command.split(' ')[0] ?? '', command }] : [];
  });
}

const windowsQuery =
  'Get-CimInstance Win32_Process | Select-Object ProcessId,ParentProcessId,ExecutablePath,CommandLine | ConvertTo-Json -Compress';

async function windowsTable(): Promise<Row[]> {
  const { stdout } = await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', windowsQuery], quietly);
  return windowsRows(stdout);
}

export function windowsRows(json: string): Row[] {
  const rows = JSON.parse(json) as Record<string, unknown>[];
  const word = (value: unknown): string => (typeof value === 'string' ? value : '');
  return rows.map((row) => ({
    pid: Number(row['ProcessId']),
    parent: Number(row['ParentProcessId']),
    program: word(row['ExecutablePath']),
    command: word(row['CommandLine']),
  }));
}
