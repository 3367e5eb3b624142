export type OrderState = 'open' | 'paid' | 'shipped' | 'returned';

export interface Order {
  id: string;
  state: OrderState;
  /** Always whole cents: no shop has ever been happy with floating point. */
  total_cents: number;
  currency: 'EUR' | 'USD';
  placed_at: string;
}

const orders: Order[] = [
  { id: 'o-1041', state: 'paid', total_cents: 4_990, currency: 'EUR', placed_at: '2026-03-02T09:14:00Z' },
  { id: 'o-1042', state: 'open', total_cents: 12_500, currency: 'EUR', placed_at: '2026-03-02T10:02:00Z' },
  { id: 'o-1043', state: 'shipped', total_cents: 899, currency: 'USD', placed_at: '2026-03-02T11:47:00Z' },
];

export interface OrderPage {
  orders: Order[];
  /** Give it back as `cursor` for the next page; null on the last one. */
  next: string | null;
}

export function listOrders(cursor: string | null, limit = 2): OrderPage {
  const start = cursor === null ? 0 : orders.findIndex((order) => order.id === cursor);
  const from = Math.max(0, start);
  return { orders: orders.slice(from, from + limit), next: orders[from + limit]?.id ?? null };
}

export function findOrder(id: string): Order | undefined {
  return orders.find((order) => order.id === id);
}
