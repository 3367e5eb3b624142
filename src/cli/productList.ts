import { connectionWords, lackingFiles, type ProductLine } from '../connect/survey.ts';
import type { Voice } from '../connect/connectReport.ts';

export function productList(lines: readonly ProductLine[], voice: Voice, shell: string): string {
  const rows = lines.map((line) => {
    const { product, found, user } = line;
    const lacking = lackingFiles(line, voice);
    const hint = user.state === 'without hooks' ? [`run \`agent-bus connect ${product.name}\` to add them`] : [];
    const more = [...lacking, ...hint].join(', ');
    return `  ${product.name.padEnd(9)}${product.title.padEnd(13)}${(found.installed ? 'installed' : 'not found').padEnd(11)}${connectionWords(line)}${more && ` (${more})`}`;
  });
  const open = lines.find(
    ({ found, user, project }) => found.installed && user.state === 'no' && project.state === 'no',
  );
  return [
    'Agents’ products, and whether they are on the bus:',
    ...rows,
    '',
    `To connect one: ${shell} connect ${open?.product.name ?? 'PRODUCT'}${open ? '' : '  (as named in the first column)'}`,
  ].join('\n');
}
