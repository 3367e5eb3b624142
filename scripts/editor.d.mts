export const editorVersion: string;
export class EditorUnavailable extends Error {}
export const chromiumFlags: string[];
export function ensureEditor(options?: {
  say?: (text: string) => void;
}): Promise<{ entry: string; node: string; version: string }>;
export function ensureChromium(options?: { say?: (text: string) => void }): Promise<string>;
