import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderTable } from '../src/orderTable.ts';

test('a row for each order', () => {
  const html = orderTable([{ id: 'o-1041', state: 'paid', total: 49.9, currency: 'EUR' }]);
  assert.match(html, /o-1041.*paid.*€49\.90/);
});
