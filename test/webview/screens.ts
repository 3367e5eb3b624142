import type { HarnessedPage, Opening } from './pageHarness.ts';
import { elsewhere, hostileTalk, longTexts, morning, notices, tenThousand, reaches } from './worlds.ts';
import { me, World } from './world.ts';

/** One screen of the page in one state, and how to get there. */
export interface ScreenCase {
  name: string;
  opening: () => Omit<Opening, 'theme' | 'width'>;
  go?: (harness: HarnessedPage) => Promise<void>;
}

const openRow = (title: string) => async (harness: HarnessedPage) => {
  await harness.page.locator('.row', { hasText: title }).first().click();
  await harness.page.locator('.message').first().waitFor();
};

const api = 'shop-api-copilot, shop-web-claude';

function lonely(): World {
  const world = new World();
  world.agent(me, { kind: 'person' });
  return world;
}

export const screens: readonly ScreenCase[] = [
  { name: 'inbox', opening: () => ({ world: morning() }), go: ({ page }) => page.locator('.row').first().waitFor() },
  {
    name: 'inbox-many',
    opening: () => ({ world: tenThousand() }),
    go: ({ page }) => page.locator('.row').first().waitFor(),
  },
  {
    name: 'inbox-empty',
    opening: () => ({ world: lonely() }),
    go: ({ page }) => page.locator('.empty-title').waitFor(),
  },
  {
    name: 'inbox-none-unread',
    opening: () => ({ world: lonely() }),
    go: async ({ page }) => {
      await page.getByText('Unread').click();
      await page.getByText('All read').waitFor();
    },
  },
  {
    name: 'hub-off',
    opening: () => ({ world: lonely(), start: { hub: 'off' as const } }),
    go: ({ page }) => page.locator('.empty-title').waitFor(),
  },
  {
    name: 'lost-paused-readonly',
    opening: () => ({ world: morning(), start: { paused: true } }),
    go: async (harness) => {
      await harness.page.locator('.row').first().waitFor();
      harness.failing.set('pause', {
        code: 'hub-unavailable',
        message: 'The hub can’t be reached.',
        next: 'Wait a moment and try again.',
      });
      await harness.page.getByText('Resume').click();
      await harness.page.locator('.banner-error').waitFor();
    },
  },
  {
    name: 'search',
    opening: () => ({ world: morning() }),
    go: async ({ page }) => {
      await page.getByRole('searchbox').fill('orders');
      await page.locator('.hit').first().waitFor();
    },
  },
  {
    name: 'agent-card',
    opening: () => ({ world: morning() }),
    go: async ({ page }) => {
      await page.locator('.chip', { hasText: 'shop-api-copilot' }).first().click();
      await page.locator('.card').waitFor();
    },
  },
  ...['travel-planner', 'tcp-peer', 'shop-api-copilot', 'mallory'].map((agent) => ({
    name: `agent-card-${agent}`,
    opening: () => ({ world: elsewhere() }),
    go: async ({ page }: HarnessedPage) => {
      await page.locator('.chip', { hasText: agent }).first().click();
      await page.locator('.card').waitFor();
    },
  })),
  ...['shop-web-copilot', 'infra-copilot', 'api-codex', 'docs-claude'].map((agent) => ({
    name: `agent-reach-${agent}`,
    opening: () => ({ world: reaches() }),
    go: async ({ page }: HarnessedPage) => {
      await page.locator('.chip', { hasText: agent }).first().click();
      await page.locator('.reach-now').waitFor();
    },
  })),
  { name: 'conversation', opening: () => ({ world: morning() }), go: openRow(api) },
  {
    name: 'conversation-top',
    opening: () => ({ world: morning() }),
    go: async (harness) => {
      await openRow(api)(harness);
      await harness.page.keyboard.press('Home');
      await harness.page.waitForTimeout(100);
    },
  },
  { name: 'notices', opening: () => ({ world: notices() }), go: openRow('is idle now') },
  { name: 'notice-of-an-end', opening: () => ({ world: notices() }), go: openRow('has expired') },
  { name: 'decision', opening: () => ({ world: morning() }), go: openRow('The migration needs') },
  { name: 'watching', opening: () => ({ world: morning() }), go: openRow('v2 ships tomorrow') },
  { name: 'channel', opening: () => ({ world: morning() }), go: openRow('Understood') },
  {
    name: 'receipt',
    opening: () => ({ world: morning() }),
    go: async (harness) => {
      await openRow(api)(harness);
      await harness.page.locator('.message-mine .receipt').last().click();
      await harness.page.locator('.steps').first().waitFor();
    },
  },
  {
    name: 'menu',
    opening: () => ({ world: morning() }),
    go: async (harness) => {
      await openRow('The migration needs')(harness);
      await harness.page.locator('.message').hover();
      await harness.page.getByRole('button', { name: 'More actions' }).click();
      await harness.page.locator('.menu-item').first().waitFor();
    },
  },
  {
    name: 'reply-failed',
    opening: () => ({ world: morning() }),
    go: async (harness) => {
      await openRow('The migration needs')(harness);
      await harness.page.getByText('Answer in words…').click();
      await harness.page.locator('textarea').fill('Please wait until the backup is through,\nthen go ahead.');
      harness.failing.set('send', {
        code: 'disk-full',
        message: 'The disk is full; nothing was sent.',
        next: 'Free some space and send again.',
      });
      await harness.page.keyboard.press('Control+Enter');
      await harness.page.locator('.composer-error').waitFor();
    },
  },
  {
    name: 'compose',
    opening: () => ({ world: morning() }),
    go: async ({ page }) => {
      await page.locator('.button-new').click();
      await page.getByRole('combobox').fill('shop-web');
      await page.keyboard.press('Enter');
      await page.getByRole('combobox').fill('i');
      await page.getByText('Ask', { exact: true }).first().waitFor();
    },
  },
  {
    name: 'compose-ask',
    opening: () => ({ world: morning() }),
    go: async ({ page }) => {
      await page.locator('.button-new').click();
      await page.getByRole('combobox').fill('infra');
      await page.keyboard.press('Enter');
      await page.locator('textarea').fill('Which region first?');
      await page.locator('.kinds .filter', { hasText: 'Ask' }).click();
      await page.getByText('Add answers to choose from').click();
      await page.keyboard.type('eu-west');
      await page.keyboard.press('Enter');
      await page.keyboard.type('us-east');
    },
  },
  {
    name: 'picture',
    opening: () => ({ world: morning() }),
    go: async (harness) => {
      await openRow(api)(harness);
      await harness.page.getByRole('button', { name: 'Show as a picture' }).click();
      await harness.page.locator('.p-arrow').first().waitFor();
      await harness.page.waitForTimeout(200);
    },
  },
  {
    name: 'picture-table',
    opening: () => ({ world: morning() }),
    go: async (harness) => {
      await openRow(api)(harness);
      await harness.page.getByRole('button', { name: 'Show as a picture' }).click();
      await harness.page.getByRole('button', { name: 'Show as a table' }).click();
      await harness.page.locator('.picture-table').waitFor();
    },
  },
  {
    name: 'hostile',
    opening: () => ({ world: hostileTalk() }),
    go: openRow('mallory'),
  },
  { name: 'long', opening: () => ({ world: longTexts() }), go: openRow('logger') },
  {
    name: 'tab',
    opening: () => ({ world: morning(), place: 'tab' as const, start: { conversation: 'c1' } }),
    go: ({ page }) => page.locator('.message').first().waitFor(),
  },
];
