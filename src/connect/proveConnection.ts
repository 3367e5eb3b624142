/** Clients hide a server that fails, so it is tried, from the product's file as it is now. */
import * as fs from 'node:fs';
import { BusError } from '../core/errors.ts';
import { problemLine, type Report } from './connectReport.ts';
import { decoded } from './files/configText.ts';
import { serverIn } from './files/serverIn.ts';
import type { Place } from './products/product.ts';
import { proveServer, type Proof } from './proveServer.ts';

/** @param undo how the person takes it back */
export async function proveConnection(
  { product, scope, plan }: Report,
  { place, undo }: { place: Place; undo: string },
): Promise<Proof> {
  const file = product.files(place, scope, true).find(({ parts }) => parts.some(({ kind }) => kind === 'server'));
  const problem = plan.problems.find(({ path }) => path === file?.path);
  const back = `To take back what was written: ${undo}`;
  if (problem) {
    throw new BusError('bad-settings', `${product.title} has no server yet: ${problemLine(problem)}`, {
      next: `Correct the file and run the command again. ${back}`,
    });
  }
  const entry = file && serverIn(decoded(fs.readFileSync(file.path)).text, file);
  if (!entry) throw new BusError('internal', `${product.title} has no server.`, { next: back });
  try {
    return await proveServer(entry, { client: product.client, folder: place.project, env: place.env });
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const message = `${product.title} is configured, but it would not reach the bus. ${error.message}`;
    throw new BusError(error.code, message, { next: `${error.next} The configuration stays. ${back}`, cause: error });
  }
}
