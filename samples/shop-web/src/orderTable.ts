import type { Order } from './fetchOrders.ts';
import { money } from './money.ts';

export function orderTable(orders: readonly Order[]): string {
  const rows = orders.map(
    ({ id, state, total, currency }) =>
      `<tr><td>${id}</td><td>${state}</td><td class="money">${money(total, currency)}</td></tr>`,
  );
  return `<table><thead><tr><th>Order</th><th>State</th><th>Total</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
