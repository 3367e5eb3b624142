/** The extension host of one window, as the helper extension offers it to a test. */
import * as fs from 'node:fs';
import * as http from 'node:http';
import { join } from 'node:path';
import { until } from '../hubProcess.ts';
import { editorPatienceMs } from './editorTools.ts';

export interface HostRecord {
  pid: number;
  port: number;
  token: string;
  folder: string;
}

/** Waits for an extension host on this folder that is not the one with the given process id. */
export async function findHost(channel: string, folder: string, not?: number): Promise<HostRecord> {
  const find = () =>
    fs
      .readdirSync(channel)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readRecord(join(channel, name)))
      .find((record) => record?.folder === folder && record.pid !== not && isAlive(record.pid));
  return until(`a window on ${folder} is up`, find, editorPatienceMs);
}

/** Runs a function there. It is sent as text: it sees its parameters and nothing else. */
export async function evaluateIn<T>(host: HostRecord, source: string, argument: unknown): Promise<T> {
  const reply = await post(host, JSON.stringify({ source, argument }));
  const { value, error } = JSON.parse(reply) as { value: T; error?: string };
  if (error !== undefined) throw new Error(`in the extension host: ${error}`);
  return value;
}

/** No time-out of its own: a command may wait for a whole turn of an agent. The test has one. */
function post({ port, token }: HostRecord, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`the extension host answered ${response.statusCode}`));
      });
    });
    request.on('error', reject).end(body);
  });
}

function readRecord(file: string): HostRecord | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as HostRecord;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
