import { productNames } from '../../connect/products/product.ts';
import { defineCommand } from '../command.ts';

const list = productNames.join(', ');

export const disconnect = defineCommand({
  name: 'disconnect',
  group: 'hub',
  about: 'take back what `agent-bus connect` has written, and nothing else',
  synopsis: 'PRODUCT',
  needs: ['PRODUCT'],
  most: 1,
  options: {
    user: { type: 'boolean', about: 'from your own settings (that is so unless told)' },
    project: { type: 'boolean', about: 'from the settings of the project in the current folder' },
    'dry-run': { type: 'boolean', about: 'show what would be changed, and change nothing' },
  },
  details: `PRODUCT is one of ${list}. The agent stays on the bus with its messages; \`agent-bus register NAME --remove\` removes it.`,
  examples: [
    ['agent-bus disconnect claude', 'from your own settings'],
    ['agent-bus disconnect gemini --project --dry-run', 'see what would be taken out'],
  ],
  async run({ args: [product], values, json, home }) {
    const { runDisconnect } = await import('../connectRun.ts');
    return runDisconnect({ product, ...values, hooks: true, dryRun: values['dry-run'] ?? false, json, home });
  },
});
