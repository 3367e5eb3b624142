export interface Order {
  id: string;
  state: string;
  // TODO: is this really what shop-api sends? Ask its agent.
  total: number;
  currency: string;
}

/** All orders, page by page. */
export async function fetchOrders(api: string): Promise<Order[]> {
  const all: Order[] = [];
  let next: string | null = null;
  do {
    const query: string = next === null ? '' : `?cursor=${encodeURIComponent(next)}`;
    const response = await fetch(`${api}/orders${query}`);
    if (!response.ok) throw new Error(`shop-api answered ${response.status}`);
    const page = (await response.json()) as { orders: Order[]; next: string | null };
    all.push(...page.orders);
    next = page.next;
  } while (next !== null);
  return all;
}
