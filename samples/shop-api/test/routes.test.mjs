import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handle } from '../src/routes.ts';

const get = async (path) => (await handle(new Request(`http://localhost${path}`))).json();

test('orders come in pages', async () => {
  const first = await get('/orders');
  assert.equal(first.orders.length, 2);
  const second = await get(`/orders?cursor=${first.next}`);
  assert.deepEqual([second.orders.length, second.next], [1, null]);
});

test('totals are whole cents', async () => {
  const order = await get('/orders/o-1041');
  assert.equal(order.total_cents, 4990);
});
